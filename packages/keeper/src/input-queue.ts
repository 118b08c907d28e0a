/**
 * One writer per child. A job (all writes of one request) is never interleaved with another; keystrokes of the driver
 * queue behind it. Writing never blocks the process: a full terminal is tried again with growing pauses, and a program
 * that takes nothing for `INPUT_STALL_MS` fails the first job that waits, so that its sender learns it. Keystrokes have no
 * sender that waits: they stay. A paste that is given up in the middle is closed first, so that what follows is typed.
 */
import { PASTE_END, PASTE_START, type InputWrite } from './input-preparation.ts';
import { TypedKeys } from './typed-keys.ts';

/** Milliseconds without any progress after which a program counts as not reading. */
export const INPUT_STALL_MS = 30_000;
/** Bytes of keystrokes that may wait for a program that does not read; more are dropped, as a full terminal does. */
const KEYSTROKES_WAITING_MAX = 1024 * 1024;
/** Bytes of jobs that may wait for one child: two of the largest texts. A job that would pass it is refused at once. */
export const INPUT_WAITING_BYTES_MAX = 32 * 1024 * 1024;
/** One write call: what a terminal line takes at once. */
const CHUNK_BYTES = 4_096;
const RETRY_MS_MIN = 1;
const RETRY_MS_MAX = 50;

/** Writes some of the bytes without blocking: how many, 0 when it would block, null when the child's input is closed. */
export type TryWrite = (bytes: Uint8Array) => number | null;

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

export function bytesOf(writes: readonly InputWrite[]): number {
  return writes.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

interface Job {
  readonly kind: 'job';
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
  readonly #jobs: (Job | TypedKeys)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #retryMs = RETRY_MS_MIN;
  #stalledSince: number | null = null;
  #keystrokesWaiting = 0;
  /** Bytes of the jobs that are not over. */
  #jobBytes = 0;
  #closed = false;

  constructor(tryWrite: TryWrite) {
    this.#tryWrite = tryWrite;
  }

  /** Resolves to the bytes written when all are. Rejects `InputStalled`, `InputClosed`. */
  submit(writes: readonly InputWrite[]): Promise<number> {
    if (this.#closed) return Promise.reject(new InputClosed('the child has ended'));
    const bytes = bytesOf(writes);
    if (this.#jobBytes + bytes > INPUT_WAITING_BYTES_MAX) return Promise.reject(new InputStalled(0));
    this.#jobBytes += bytes;
    return new Promise<number>((resolve, reject) => {
      this.#jobs.push({ kind: 'job', writes, resolve, reject, index: 0, offset: 0, written: 0, due: false });
      if (this.#timer === null) this.#run();
    }).finally(() => {
      this.#jobBytes -= bytes;
    });
  }

  /** Keystrokes: fire and forget, in order with the jobs. */
  type(bytes: Uint8Array): void {
    if (this.#closed || bytes.length === 0) return;
    // Nothing waits, as almost always: no need to queue.
    const rest = this.#jobs.length === 0 ? bytes.subarray(this.#tryWrite(bytes) ?? 0) : bytes;
    if (rest.length === 0 || this.#keystrokesWaiting + rest.length > KEYSTROKES_WAITING_MAX) return;
    this.#keystrokesWaiting += rest.length;
    const last = this.#jobs.at(-1);
    if (last?.kind === 'keys') {
      last.add(rest);
      return;
    }
    const keys = new TypedKeys();
    keys.add(rest);
    this.#jobs.push(keys);
    if (this.#timer === null) this.#run();
  }

  /** Ahead of everything queued, between two chunks: for an interrupt. False when it could not be written at once. */
  overtake(bytes: Buffer): boolean {
    return !this.#closed && this.#tryWrite(bytes) === bytes.length;
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const job of this.#jobs.splice(0))
      if (job.kind === 'job') job.reject(new InputClosed('the child has ended'));
  }

  #run(): void {
    for (;;) {
      const job = this.#jobs[0];
      if (job === undefined) return;
      const bytes = job.kind === 'keys' ? job.next() : job.writes[job.index]?.bytes.subarray(job.offset);
      if (bytes === undefined || (job.kind === 'keys' && bytes.length === 0)) {
        this.#jobs.shift();
        if (job.kind === 'job') job.resolve(job.written);
        continue;
      }
      if (job.kind === 'job' && !job.due) {
        job.due = true;
        const { delayBeforeMs = 0 } = job.writes[job.index] ?? {};
        if (delayBeforeMs > 0) {
          this.#later(delayBeforeMs);
          return;
        }
      }
      const count = this.#tryWrite(bytes.subarray(0, CHUNK_BYTES));
      if (count === null) {
        this.close();
        return;
      }
      if (count === 0 && bytes.length > 0) {
        this.#failAfterStall();
        if (this.#jobs[0] !== job) continue;
        this.#later(this.#retryMs);
        this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS_MAX);
        return;
      }
      this.#retryMs = RETRY_MS_MIN;
      this.#stalledSince = null;
      this.#advance(job, count);
    }
  }

  #advance(job: Job | TypedKeys, count: number): void {
    if (job.kind === 'keys') {
      job.advance(count);
      this.#keystrokesWaiting -= count;
      return;
    }
    job.offset += count;
    job.written += count;
    if (job.offset < (job.writes[job.index]?.bytes.length ?? 0)) return;
    job.index += 1;
    job.offset = 0;
    job.due = false;
  }

  /** Nothing was taken: when it has been so for too long, the first job in the queue is given up. */
  #failAfterStall(): void {
    const now = performance.now();
    this.#stalledSince ??= now;
    if (now - this.#stalledSince <= INPUT_STALL_MS) return;
    const index = this.#jobs.findIndex(({ kind }) => kind === 'job');
    const [job] = index < 0 ? [] : this.#jobs.splice(index, 1);
    this.#stalledSince = null;
    if (job?.kind !== 'job') return;
    if (isInPaste(job)) {
      const closing = new TypedKeys();
      closing.add(Buffer.from(PASTE_END));
      this.#keystrokesWaiting += closing.length;
      this.#jobs.unshift(closing);
    }
    job.reject(new InputStalled(job.written));
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#run();
    }, ms);
  }
}

/** The program has seen the start of a paste, or some of it, and not its end. */
function isInPaste({ writes, index, written }: Job): boolean {
  return index === 0 && written > 0 && writes[0]?.bytes.indexOf(PASTE_START) === 0;
}
