import { expect, test } from 'vitest';
import { DriverSeat, type Contender } from './driver-seat.ts';

type One = Contender & { readonly told: unknown[] };

function scene() {
  const seat = new DriverSeat<One>((now, before) => {
    before?.told.push('watches');
    now.told.push('drives');
  });
  let count = 0;
  const enter = (clientName: string, mode: 'drive' | 'watch' = 'drive'): One => {
    const told: unknown[] = [];
    const attachment = {
      mode,
      sendAsks: ({ asks }: Parameters<Contender['attachment']['sendAsks']>[0]) =>
        told.push(asks.map((ask) => ask.clientName)),
      sendKept: () => told.push('kept'),
    };
    const one = { id: ++count, clientName, attachment, told };
    seat.enter(one);
    return one;
  };
  return { seat, enter };
}

test('the driver is told of those who ask, in their order, and as they leave', () => {
  const { seat, enter } = scene();
  const [ada, bob, cleo] = [enter('ada'), enter('bob'), enter('cleo')];
  for (const one of [bob, cleo, bob]) seat.ask(one);
  seat.leave(bob);
  expect(ada.told).toEqual([['bob'], ['bob', 'cleo'], ['cleo']]);
  expect(seat.driver).toBe(ada);
});

test('who is handed the seat drives, and hears of the others who ask', () => {
  const { seat, enter } = scene();
  const [ada, bob, cleo] = [enter('ada'), enter('bob'), enter('cleo')];
  seat.ask(bob);
  seat.ask(cleo);
  seat.answer(ada, { client: cleo.id, handOver: true });
  expect(seat.driver).toBe(cleo);
  expect(cleo.told).toEqual(['drives', ['bob']]);
  expect(ada.told.at(-1)).toBe('watches');
});

test('who is told that it is kept may ask again', () => {
  const { seat, enter } = scene();
  const [ada, bob] = [enter('ada'), enter('bob')];
  seat.ask(bob);
  seat.answer(ada, { client: bob.id, handOver: false });
  seat.answer(ada, { client: bob.id, handOver: true });
  expect(bob.told).toEqual(['kept']);
  seat.ask(bob);
  expect(ada.told).toEqual([['bob'], [], ['bob']]);
});

test('nobody but the driver answers, and nobody who only watches asks or takes over', () => {
  const { seat, enter } = scene();
  const [ada, bob, cleo] = [enter('ada'), enter('bob'), enter('cleo', 'watch')];
  seat.ask(bob);
  seat.answer(bob, { client: bob.id, handOver: true });
  seat.answer(cleo, { client: bob.id, handOver: true });
  seat.ask(cleo);
  seat.takeOver(cleo);
  expect(seat.driver).toBe(ada);
  expect(ada.told).toEqual([['bob']]);
});

test('when the driver leaves, who asked first is next; else the only one who may', () => {
  const { seat, enter } = scene();
  const [ada, bob, cleo] = [enter('ada'), enter('bob'), enter('cleo')];
  seat.ask(cleo);
  seat.leave(ada);
  expect(seat.driver).toBe(cleo);
  seat.leave(cleo);
  expect(seat.driver).toBe(bob);
  enter('dan', 'watch');
  const [eve, fay] = [enter('eve'), enter('fay')];
  seat.leave(bob);
  expect(seat.driver).toBeNull();
  // Nobody is there whom one could ask.
  seat.ask(fay);
  expect(seat.driver).toBe(fay);
  expect(eve.told).toEqual([]);
});

test('whoever is left alone takes the empty seat, also when it was not the driver who left last', () => {
  const { seat, enter } = scene();
  const [ada, bob, cleo] = [enter('ada'), enter('bob'), enter('cleo')];
  enter('dan', 'watch');
  seat.leave(ada);
  expect(seat.driver).toBeNull();
  seat.leave(bob);
  expect(seat.driver).toBe(cleo);
  expect(cleo.told).toEqual(['drives']);
});
