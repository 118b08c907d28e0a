import { expect, it } from 'vitest';
import { safeDetails } from './keeper-link.ts';

it('passes on which processes survived a stop, and nothing that the protocol cannot carry', () => {
  const pids = Array.from({ length: 100 }, (_, index) => String(index));
  expect(safeDetails({ pids, count: 100, forced: true, inner: { a: 1 }, nothing: null })).toEqual({
    pids: pids.slice(0, 64),
    count: 100,
    forced: true,
  });
  expect(safeDetails({ long: 'x'.repeat(5_000), longs: ['x'.repeat(5_000), 7] })).toEqual({
    long: 'x'.repeat(1_024),
    longs: ['x'.repeat(1_024)],
  });
});
