import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchLiveness } from './watch-liveness.ts';

class FakeLine extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  isPaused = false;
  bufferedAmount = 0;
  pings = 0;
  isEnded = false;
  answers = true;

  ping(): void {
    this.pings += 1;
    if (this.answers) this.emit('pong');
  }

  terminate(): void {
    this.isEnded = true;
    this.emit('close');
  }
}

let line: FakeLine;
beforeEach(() => {
  vi.useFakeTimers();
  line = new FakeLine();
  watchLiveness(line, 1_000);
});
afterEach(() => void vi.useRealTimers());

test('a line that answers lives, and is asked no more once it is closed', () => {
  vi.advanceTimersByTime(10_000);
  expect(line).toMatchObject({ isEnded: false, pings: 10 });
  line.emit('close');
  vi.advanceTimersByTime(10_000);
  expect(line.pings).toBe(10);
});

test('a line that says nothing between two pings is ended, once', () => {
  line.answers = false;
  vi.advanceTimersByTime(1_999);
  expect(line.isEnded).toBe(false);
  vi.advanceTimersByTime(1);
  expect(line.isEnded).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test('any message counts as an answer', () => {
  line.answers = false;
  for (let second = 0; second < 10; second += 1) {
    vi.advanceTimersByTime(999);
    line.emit('message');
    vi.advanceTimersByTime(1);
  }
  expect(line.isEnded).toBe(false);
});

test('a line that is held back here, or read slowly there, lives; one that takes nothing does not', () => {
  line.answers = false;
  line.isPaused = true;
  vi.advanceTimersByTime(10_000);
  expect(line.isEnded).toBe(false);
  line.isPaused = false;
  for (let second = 0; second < 10; second += 1) {
    line.bufferedAmount = 1_000 - second;
    vi.advanceTimersByTime(1_000);
  }
  expect(line.isEnded).toBe(false);
  vi.advanceTimersByTime(2_000);
  expect(line.isEnded).toBe(true);
});
