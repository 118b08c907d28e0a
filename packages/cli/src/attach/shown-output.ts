/**
 * Counts what the output has really taken. Only that is acknowledged, so that a slow terminal makes the keeper skip to a
 * fresh screen instead of filling our memory.
 */
import type { Writable } from 'node:stream';

/** Bytes shown after which the keeper hears of it at once. */
const ACKNOWLEDGE_BYTES = 32 * 1024;
/** Milliseconds until it hears of less: keeps small acknowledgements out of the way of keystrokes. */
const ACKNOWLEDGE_MS = 5;

export class ShownOutput {
  readonly #output: Writable;
  readonly #acknowledge: (bytes: number) => void;
  #shown = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(output: Writable, acknowledge: (bytes: number) => void) {
    this.#output = output;
    this.#acknowledge = acknowledge;
  }

  /** `counts` is what the keeper sent for it, when that differs from what is written. */
  write(bytes: Uint8Array | string, counts: number): void {
    this.#output.write(bytes, (error) => {
      if (error === null || error === undefined) this.#onShown(counts);
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #onShown(bytes: number): void {
    this.#shown += bytes;
    if (this.#shown >= ACKNOWLEDGE_BYTES) this.#report();
    else this.#timer ??= setTimeout(() => this.#report(), ACKNOWLEDGE_MS);
  }

  #report(): void {
    this.stop();
    if (this.#shown === 0) return;
    this.#acknowledge(this.#shown);
    this.#shown = 0;
  }
}
