import { expect, it } from 'vitest';
import { Revision } from './revision.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('answers at once when it is newer, else when it has become so, once for all changes of a turn', async () => {
  const revision = new Revision();
  await revision.newerThan(-1);
  const woken: number[] = [];
  const wait = (after: number) => revision.newerThan(after).then(() => woken.push(after));
  void wait(0);
  void wait(5);
  await turn();
  expect(woken).toEqual([]);
  for (let count = 0; count < 3; count += 1) revision.advance();
  await turn();
  await turn();
  expect([woken, revision.current]).toEqual([[0], 3]);
  revision.close();
  await turn();
  await turn();
  expect(woken).toEqual([0, 5]);
  await revision.newerThan(100);
});
