import { expect, test } from 'vitest';
import { Mirroring } from './mirroring.ts';

function setUp() {
  const signals: AbortSignal[] = [];
  const mirroring = new Mirroring({
    run: (signal) => {
      signals.push(signal);
      return Promise.resolve();
    },
  });
  return { mirroring, areEnded: () => signals.map(({ aborted }) => aborted) };
}

test('whoever shows the mirror first goes on with what has begun, and ends it', () => {
  const { mirroring, areEnded } = setUp();
  mirroring.begin();
  mirroring.begin();
  const end = mirroring.take();
  expect(areEnded()).toEqual([false]);
  end();
  expect(areEnded()).toEqual([true]);
});

test('what has begun before somebody logs in is not what they are shown', () => {
  const { mirroring, areEnded } = setUp();
  mirroring.drop();
  expect(areEnded()).toEqual([]);
  mirroring.begin();
  mirroring.drop();
  mirroring.take();
  expect(areEnded()).toEqual([true, false]);
});

test('who comes after that begins anew', () => {
  const { mirroring, areEnded } = setUp();
  mirroring.begin();
  mirroring.take()();
  mirroring.take();
  expect(areEnded()).toEqual([true, false]);
});
