import { expect, test } from 'vitest';
import { FailureError, type FailureCode, type LinkReason } from '@roost/protocol';
import { isRefusal, reasonOf } from './link-reason.ts';

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
