import { beforeEach, expect, it } from 'vitest';
import type { FailureError } from '@roost/protocol';
import { ATTEMPTS_MAX, ATTEMPTS_OF_PEER_MAX, ATTEMPTS_WINDOW_MS, Attempts } from './attempts.ts';
import { refusalOf } from './access-for-test.ts';

let now: number;
let attempts: Attempts;
beforeEach(() => {
  now = 1_000;
  attempts = new Attempts(() => now);
});

const fail = (address: string, times: number) => {
  for (let time = 0; time < times; time += 1) attempts.failed(address);
};
const check = (address: string) => refusalOf(() => attempts.check(address));

it('refuses a peer that failed often, until the first of its failures is long ago', () => {
  fail('10.0.0.1', ATTEMPTS_OF_PEER_MAX - 1);
  now += 10_000;
  expect(check('10.0.0.1')).toBeNull();
  fail('10.0.0.1', 1);
  expect(check('10.0.0.1')).toBe('rate-limited');
  expect(refusalOf(() => attempts.failed('10.0.0.1'))).toBe('rate-limited');
  expect(check('10.0.0.2')).toBeNull();
  now += ATTEMPTS_WINDOW_MS - 10_001;
  expect(check('10.0.0.1')).toBe('rate-limited');
  now += 1;
  expect(check('10.0.0.1')).toBeNull();
});

it('says when to try again', () => {
  fail('10.0.0.1', ATTEMPTS_OF_PEER_MAX);
  now += 20_000;
  try {
    attempts.check('10.0.0.1');
    expect.unreachable();
  } catch (error) {
    expect((error as FailureError).failure.details).toEqual({ retryAfterMs: ATTEMPTS_WINDOW_MS - 20_000 });
  }
});

it('does not get longer by what is refused', () => {
  fail('10.0.0.1', ATTEMPTS_OF_PEER_MAX);
  now += ATTEMPTS_WINDOW_MS - 1;
  for (let time = 0; time < 100; time += 1)
    expect(refusalOf(() => attempts.failed('10.0.0.1'))).toBe('rate-limited');
  now += 1;
  expect(check('10.0.0.1')).toBeNull();
});

it('bounds all peers together, and what it remembers of them', () => {
  for (let peer = 0; peer < ATTEMPTS_MAX; peer += 1) fail(`10.0.${peer >> 8}.${peer & 255}`, 1);
  expect(check('10.9.9.9')).toBe('rate-limited');
  for (let round = 1; round < 5; round += 1) {
    now += ATTEMPTS_WINDOW_MS;
    for (let peer = 0; peer < ATTEMPTS_MAX; peer += 1) fail(`10.${round}.${peer >> 8}.${peer & 255}`, 1);
  }
  expect(attempts.peers).toBeLessThanOrEqual(1_024);
});

it('takes an IPv6 network for one peer, and an IPv4 address for the same in either notation', () => {
  fail('2001:db8:0:1::1', ATTEMPTS_OF_PEER_MAX);
  expect(check('2001:DB8::1:ffff:0:0:9')).toBe('rate-limited');
  expect(check('2001:db8:0000:0001:1:2:3:4')).toBe('rate-limited');
  expect(check('2001:db8:0:2::1')).toBeNull();
  fail('::ffff:10.0.0.1', ATTEMPTS_OF_PEER_MAX);
  expect(check('10.0.0.1')).toBe('rate-limited');
  fail('fe80::1%eth0', ATTEMPTS_OF_PEER_MAX);
  expect(check('fe80::2')).toBe('rate-limited');
  expect(check('::1')).toBeNull();
});
