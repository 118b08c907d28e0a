/** Waits for what is read to become right, also on a machine that does many other things. */
import { expect } from 'vitest';

const WAIT_MS = 20_000;

export function eventually<Value>(read: () => Value | Promise<Value>) {
  return expect.poll(read, { timeout: WAIT_MS, interval: 20 });
}
