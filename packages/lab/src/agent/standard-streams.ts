// Reading and writing as slowly as asked, and never blocking: the agent must see signals and be able to exit with its
// code while nobody reads its terminal.
import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import { ReadStream, isatty } from 'node:tty';

interface InputOptions {
  /** Largest read in bytes; 0 leaves it to the system. */
  chunk: number;
  /** Pause after each read, in milliseconds. */
  delay: number;
  onChunk: (chunk: Buffer) => void;
  onEnd: () => void;
}

const DEFAULT_CHUNK_BYTES = 64 * 1024;

export class StandardInput {
  readonly #stream: Socket | undefined;
  #stopped = true;

  constructor({ chunk, delay, onChunk, onEnd }: InputOptions) {
    const buffer = Buffer.alloc(chunk === 0 ? DEFAULT_CHUNK_BYTES : chunk);
    const onread = {
      buffer,
      callback: (length: number): boolean => {
        onChunk(Buffer.from(buffer.subarray(0, length)));
        if (delay > 0) setTimeout(() => this.#resume(), delay);
        return delay === 0;
      },
    };
    // Accepted by the constructors of both, declared by the types of neither.
    const options = { fd: 0, readable: true, writable: false, onread };
    if (isatty(0)) {
      const terminal = new ReadStream(0, options);
      terminal.setRawMode(true);
      this.#stream = terminal;
    } else if (fstatSync(0).isFIFO() || fstatSync(0).isSocket()) {
      this.#stream = new Socket(options);
    }
    if (this.#stream === undefined) {
      queueMicrotask(onEnd);
      return;
    }
    // A hung-up terminal is an error for the kernel and the end of input for an agent.
    this.#stream.once('error', onEnd);
    this.#stream.once('end', onEnd);
  }

  start(): void {
    this.#stopped = false;
    this.#stream?.resume();
  }

  stop(): void {
    this.#stopped = true;
    this.#stream?.pause();
  }

  #resume(): void {
    if (!this.#stopped) this.#stream?.resume();
  }
}

interface BlockingHandle {
  setBlocking: (on: boolean) => void;
}

function blockingHandle(stream: object): BlockingHandle | undefined {
  const handle: unknown = Reflect.get(stream, '_handle');
  return typeof handle === 'object' && handle !== null && 'setBlocking' in handle
    ? (handle as BlockingHandle)
    : undefined;
}

export class StandardOutput {
  #broken = false;

  constructor(onBroken: () => void) {
    // Node writes to terminals synchronously: a full terminal would stop timers, signals and exit.
    if (process.stdout.isTTY) blockingHandle(process.stdout)?.setBlocking(false);
    process.stdout.on('error', () => {
      if (this.#broken) return;
      this.#broken = true;
      onBroken();
    });
  }

  /** True once nobody can read what is written any more. */
  get isBroken(): boolean {
    return this.#broken;
  }

  /** Resolves when the terminal or pipe has taken the bytes. */
  write(data: string | Buffer): Promise<void> {
    if (this.#broken) return new Promise((resolve) => setImmediate(resolve));
    return new Promise((resolve) => process.stdout.write(data, () => resolve()));
  }
}
