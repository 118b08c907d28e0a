import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  InputClosed,
  INPUT_STALL_MS,
  INPUT_WAITING_BYTES_MAX,
  InputQueue,
  InputStalled,
} from './input-queue.ts';

const write = (text: string, delayBeforeMs = 0) => ({ bytes: Buffer.from(text), delayBeforeMs });

/** A terminal that takes `room` bytes until it is read. */
function terminal(room = Infinity) {
  const state = { room, taken: '', closed: false };
  const tryWrite = (bytes: Uint8Array) => {
    if (state.closed) return null;
    const count = Math.min(bytes.length, state.room);
    state.room -= count;
    state.taken += Buffer.from(bytes.subarray(0, count)).toString();
    return count;
  };
  return { state, tryWrite };
}

describe('InputQueue', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('keeps jobs whole and in order, keystrokes behind them', async () => {
    const { state, tryWrite } = terminal();
    const queue = new InputQueue(tryWrite);
    const first = queue.submit([write('one'), write('\r', 500)]);
    const second = queue.submit([write('two'), write('\r', 500)]);
    queue.type(Buffer.from('k'));
    expect(state.taken).toBe('one');
    await vi.advanceTimersByTimeAsync(500);
    expect(state.taken).toBe('one\rtwo');
    await vi.advanceTimersByTimeAsync(500);
    expect(state.taken).toBe('one\rtwo\rk');
    expect(await Promise.all([first, second])).toEqual([4, 4]);
  });

  it('waits for a full terminal and goes on where it stopped', async () => {
    const { state, tryWrite } = terminal(5);
    const queue = new InputQueue(tryWrite);
    const job = queue.submit([write('x'.repeat(10_000))]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(state.taken.length).toBe(5);
    state.room = Infinity;
    await vi.advanceTimersByTimeAsync(60);
    expect(await job).toBe(10_000);
  });

  it('gives up on a program that reads nothing, tells how far it came, and serves the next job', async () => {
    const { state, tryWrite } = terminal(5);
    const queue = new InputQueue(tryWrite);
    const stuck = queue.submit([write('stuck job')]).catch((error: unknown) => error);
    const next = queue.submit([write('next')]);
    await vi.advanceTimersByTimeAsync(INPUT_STALL_MS + 100);
    state.room = Infinity;
    await vi.advanceTimersByTimeAsync(100);
    const error = await stuck;
    expect(error).toBeInstanceOf(InputStalled);
    expect((error as InputStalled).bytesWritten).toBe(5);
    expect(await next).toBe(4);
    expect(state.taken).toBe('stucknext');
  });

  it('lets an interrupt overtake what waits', async () => {
    const { state, tryWrite } = terminal();
    const queue = new InputQueue(tryWrite);
    const job = queue.submit([write('text'), write('\r', 500)]);
    expect(queue.overtake(Buffer.from('\x03'))).toBe(true);
    await vi.advanceTimersByTimeAsync(500);
    await job;
    expect(state.taken).toBe('text\x03\r');
  });

  it('fails what waits when the child ends', async () => {
    const { state, tryWrite } = terminal(0);
    const queue = new InputQueue(tryWrite);
    const waiting = queue.submit([write('never')]).catch((error: unknown) => error);
    state.closed = true;
    await vi.advanceTimersByTimeAsync(100);
    expect(await waiting).toBeInstanceOf(InputClosed);
    await expect(queue.submit([write('late')])).rejects.toBeInstanceOf(InputClosed);
  });

  it('bounds the bytes of jobs that wait, and takes more once they are written', async () => {
    const { state, tryWrite } = terminal(0);
    const queue = new InputQueue(tryWrite);
    const half = { bytes: Buffer.alloc(INPUT_WAITING_BYTES_MAX / 2, 'x'), delayBeforeMs: 0 };
    const waiting = [queue.submit([half]), queue.submit([half])];
    await expect(queue.submit([write('one too many')])).rejects.toMatchObject({
      name: 'InputStalled',
      bytesWritten: 0,
    });
    state.room = Infinity;
    await vi.advanceTimersByTimeAsync(100);
    await Promise.all(waiting);
    expect(await queue.submit([write('again')])).toBe(5);
  });

  it('closes a paste that it gave up in the middle, before anything else', async () => {
    const { state, tryWrite } = terminal(10);
    const queue = new InputQueue(tryWrite);
    const stuck = queue
      .submit([write('\x1b[200~long paste\x1b[201~'), write('\r', 500)])
      .catch(() => 'stuck');
    const next = queue.submit([write('next')]);
    await vi.advanceTimersByTimeAsync(INPUT_STALL_MS + 100);
    state.room = Infinity;
    await vi.advanceTimersByTimeAsync(100);
    expect(await stuck).toBe('stuck');
    expect(await next).toBe(4);
    expect(state.taken).toBe('\x1b[200~long\x1b[201~next');
  });

  it('closes no paste that was written whole, or not begun', async () => {
    for (const room of [0, 17]) {
      const { state, tryWrite } = terminal(room);
      const queue = new InputQueue(tryWrite);
      const stuck = queue.submit([write('\x1b[200~paste\x1b[201~'), write('\r', 500)]).catch(() => 'stuck');
      await vi.advanceTimersByTimeAsync(INPUT_STALL_MS + 1_000);
      state.room = Infinity;
      expect(await stuck).toBe('stuck');
      expect(await queue.submit([write('next')])).toBe(4);
      expect(state.taken).toBe(`${room === 0 ? '' : '\x1b[200~paste\x1b[201~'}next`);
    }
  });

  it('bounds the keystrokes that wait for a program that does not read', async () => {
    const { state, tryWrite } = terminal(0);
    const queue = new InputQueue(tryWrite);
    for (let index = 0; index < 100; index += 1) queue.type(Buffer.alloc(64 * 1024, 'k'));
    state.room = Infinity;
    await vi.advanceTimersByTimeAsync(100);
    expect(state.taken.length).toBe(1024 * 1024);
  });

  it('keeps a million single keys at the price of their bytes, in order', async () => {
    const { state, tryWrite } = terminal(0);
    const queue = new InputQueue(tryWrite);
    const before = process.memoryUsage();
    const key = (index: number) => String.fromCharCode(97 + (index % 26));
    for (let index = 0; index < 1_000_000; index += 1) queue.type(Buffer.from(key(index)));
    const after = process.memoryUsage();
    // Ten times the bytes, for what the keys themselves left to be collected.
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(10 * 1024 * 1024);
    state.room = Infinity;
    await vi.advanceTimersByTimeAsync(100);
    expect(state.taken).toBe(Array.from({ length: 1_000_000 }, (_, index) => key(index)).join(''));
  });

  it('keeps keystrokes for a program that reads nothing, and tells whoever sent something behind them', async () => {
    const { state, tryWrite } = terminal(0);
    const queue = new InputQueue(tryWrite);
    queue.type(Buffer.from('keys'));
    const stuck = queue.submit([write('job')]).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(INPUT_STALL_MS + 100);
    expect(await stuck).toBeInstanceOf(InputStalled);
    state.room = Infinity;
    queue.type(Buffer.from(' more'));
    await vi.advanceTimersByTimeAsync(100);
    expect(state.taken).toBe('keys more');
  });
});
