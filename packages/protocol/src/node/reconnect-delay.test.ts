import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reconnectDelay } from './reconnect-delay.ts';

test('pauses grow from a quarter of a second to half a minute, and no two nodes keep step', () => {
  expect([1, 2, 3, 4, 8, 100].map((failures) => reconnectDelay(failures, false, 0))).toEqual([
    250, 500, 1_000, 2_000, 15_000, 15_000,
  ]);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.boolean(),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (failures, isRefused, random) => {
        const delay = reconnectDelay(failures, isRefused, random);
        expect(delay).toBeGreaterThanOrEqual(isRefused ? 15_000 : 250);
        expect(delay).toBeLessThanOrEqual(30_000);
        expect(reconnectDelay(failures + 1, isRefused, random)).toBeGreaterThanOrEqual(delay);
      },
    ),
  );
});
