import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RelayConnection } from '@roost/client/browser';
import { FailureError } from '@roost/protocol';
import { NODE_ID } from '../testing/things.ts';
import { NodeLines } from './node-lines.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function lines(fails = 0) {
  const made: { isClosed: boolean; lose: () => void }[] = [];
  let attempts = 0;
  const connect = (): Promise<RelayConnection> => {
    if (attempts++ < fails) return Promise.reject(new FailureError('node-offline'));
    const listeners: (() => void)[] = [];
    const one = { isClosed: false, lose: () => listeners.forEach((listener) => listener()) };
    made.push(one);
    return Promise.resolve({
      onClose: (listener: () => void) => listeners.push(listener),
      close: () => (one.isClosed = true),
    } as unknown as RelayConnection);
  };
  const openWebSocket = () => {
    throw new Error('not in this test');
  };
  return { made, pool: new NodeLines({ openWebSocket, baseUrl: '', connect }) };
}

test('those who work with one node share a line, which outlives them for a while', async () => {
  const { made, pool } = lines();
  const [first, second] = await Promise.all([pool.use(NODE_ID), pool.use(NODE_ID)]);
  first.release();
  second.release();
  await vi.advanceTimersByTimeAsync(10_000);
  const third = await pool.use(NODE_ID);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(made.map(({ isClosed }) => isClosed)).toEqual([false]);
  third.release();
  third.release();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(made.map(({ isClosed }) => isClosed)).toEqual([true]);
});

test('a lost line is made anew for the next who needs it', async () => {
  const { made, pool } = lines();
  await pool.use(NODE_ID);
  made[0]!.lose();
  await pool.use(NODE_ID);
  expect(made.length).toBe(2);
});

test('a line that could not be made is told, and tried again by the next', async () => {
  const { made, pool } = lines(1);
  await expect(pool.use(NODE_ID)).rejects.toMatchObject({ failure: { code: 'node-offline' } });
  await pool.use(NODE_ID);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(made.length).toBe(1);
});
