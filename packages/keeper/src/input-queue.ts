/**
 * One writer per child. A job (all writes of one request) is never interleaved with another; keystrokes of the driver
 * queue behind it. Writing never blocks the process: a full terminal is tried again with growing pauses, and a program
 * that takes nothing for `INPUT_STALL_MS` fails the job, so that its sender learns it and the queue goes on.
 */
import type { InputWrite } from './input-preparation.ts';

/** Milliseconds without any progress after which a program counts as not reading. */
export const INPUT_STALL_MS = 30_000;
/** Bytes of keystrokes that may wait for a program that does not read; more are dropped, as a full terminal does. */
const KEYSTROKES_WAITING_MAX = 1024 * 1024;
/** One write call: what a terminal line takes at once. */
const CHUNK_BYTES = 4_096;
const RETRY_MS_MIN = 1;
const RETRY_MS_MAX = 50;

/** Writes some of the bytes without blocking: how many, 0 when it would block, null when the child's input is closed. */
export type TryWrite = (bytes: Buffer) => number | null;

export class InputStalled extends Error {
  override readonly name = 'InputStalled';
  readonly bytesWritten: number;
  constructor(bytesWritten: number) {
    super('the program does not read its input');
    this.bytesWritten = bytesWritten;
  }
}

export class InputClosed extends Error {
  override readonly name = 'InputClosed';
}

interface Job {
  readonly writes: readonly InputWrite[];
  readonly resolve: (bytesWritten: number) => void;
  readonly reject: (error: Error) => void;
  index: number;
  offset: number;
  written: number;
  /** The pause before the write at `index` is over. */
  due: boolean;
}

export class InputQueue {
  readonly #tryWrite: TryWrite;
  readonly #jobs: Job[] = [];
  #timer: NodeJS.Timeout | null = null;
  #retryMs = RETRY_MS_MIN;
  #stalledSince: number | null = null;
  #keystrokesWaiting = 0;
  #closed = false;

  constructor(tryWrite: TryWrite) {
    this.#tryWrite = tryWrite;
  }

  /** Resolves to the bytes written when all are. Rejects `InputStalled`, `InputClosed`. */
  submit(writes: readonly InputWrite[]): Promise<number> {
    if (this.#closed) return Promise.reject(new InputClosed('the child has ended'));
    return new Promise((resolve, reject) => {
      this.#jobs.push({ writes, resolve, reject, index: 0, offset: 0, written: 0, due: false });
      if (this.#timer === null) this.#run();
    });
  }

  /** Keystrokes: fire and forget, in order with the jobs. */
  type(bytes: Uint8Array): void {
    if (this.#closed || bytes.length === 0) return;
    if (this.#keystrokesWaiting + bytes.length > KEYSTROKES_WAITING_MAX) return;
    this.#keystrokesWaiting += bytes.length;
    const done = () => {
      this.#keystrokesWaiting -= bytes.length;
    };
    this.submit([{ bytes: Buffer.from(bytes), delayBeforeMs: 0 }]).then(done, done);
  }

  /** Ahead of everything queued, between two chunks: for an interrupt. False when it could not be written at once. */
  overtake(bytes: Buffer): boolean {
    return !this.#closed && this.#tryWrite(bytes) === bytes.length;
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const job of this.#jobs.splice(0)) job.reject(new InputClosed('the child has ended'));
  }

  #run(): void {
    for (;;) {
      const job = this.#jobs[0];
      if (job === undefined) return;
      const write = job.writes[job.index];
      if (write === undefined) {
        this.#jobs.shift();
        job.resolve(job.written);
        continue;
      }
      if (!job.due && write.delayBeforeMs > 0) {
        job.due = true;
        this.#later(write.delayBeforeMs);
        return;
      }
      const count = this.#tryWrite(write.bytes.subarray(job.offset, job.offset + CHUNK_BYTES));
      if (count === null) {
        this.close();
        return;
      }
      if (count === 0) {
        if (this.#waitOrGiveUp(job)) return;
        continue;
      }
      this.#retryMs = RETRY_MS_MIN;
      this.#stalledSince = null;
      job.offset += count;
      job.written += count;
      if (job.offset === write.bytes.length) {
        job.index += 1;
        job.offset = 0;
        job.due = false;
      }
    }
  }

  /** True when a retry is scheduled; false when the job was given up and the next one may go. */
  #waitOrGiveUp(job: Job): boolean {
    const now = performance.now();
    this.#stalledSince ??= now;
    if (now - this.#stalledSince > INPUT_STALL_MS) {
      this.#jobs.shift();
      this.#stalledSince = null;
      job.reject(new InputStalled(job.written));
      return false;
    }
    this.#later(this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS_MAX);
    return true;
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#run();
    }, ms);
  }
}
