import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FailureError, type FailureCode, type LinkReason } from '@roost/protocol';
import { isRefusal, reasonOf, reconnectDelay } from './reconnect.ts';

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

test.each<[FailureCode, LinkReason, boolean]>([
  ['node-not-running', 'unreachable', false],
  ['home-unusable', 'unreachable', false],
  ['node-unresponsive', 'unresponsive', false],
  ['request-timed-out', 'unresponsive', false],
  ['unauthorized', 'unauthorized', true],
  ['unsupported-protocol', 'unsupported-protocol', true],
  ['unsupported-capability', 'unsupported-protocol', true],
  ['shutting-down', 'shutting-down', false],
  ['connections-exhausted', 'connections-exhausted', false],
  ['connection-lost', 'connection-lost', false],
])('a link that ends with %s is %s', (code, reason, waitsForSomebody) => {
  expect(reasonOf(new FailureError(code))).toBe(reason);
  expect(isRefusal(reason)).toBe(waitsForSomebody);
});

test('any other error is a lost connection', () => {
  expect(reasonOf(new Error('anything'))).toBe('connection-lost');
});
