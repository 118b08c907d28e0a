/**
 * A process on a terminal of its own: what the PTY library gives, with its faults mended (docs/decisions/001):
 *
 * - At the end of the child the event loop takes the hang-up for the end of the stream and drops what is unread (seen:
 *   up to 15 KB of 32 KB). So when the stream ends, the rest is read from the descriptor, which is still open then.
 *   Only then: a synchronous read of a terminal that still runs waits for the kernel's own copying, which cost a neighbour's
 *   keystroke 10 to 30 ms when it was tried to fetch floods faster.
 * - 200 ms after the exit the library closes the terminal, read or not. So a paused terminal looks whether its child is
 *   still there, and is resumed when not.
 * - Its write path spins while a program does not read. So writing goes to the descriptor, which never blocks.
 * - A death by signal is told as code 0 with a number.
 */
import { readSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { spawn, type IPty } from '@lydell/node-pty';

/** Bytes of one read at the end: the kernel gives at most 4,095 of a terminal at once. */
const REST_BYTES = 4_096;
/** While paused, how often to look whether the child has ended. */
const PAUSED_LOOK_MS = 40;

export interface PtyStart {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly columns: number;
  readonly rows: number;
}

export interface PtyListener {
  /** The bytes are only valid during the call. */
  output(bytes: Uint8Array): void;
  /** After all output. */
  exited(exit: { exitCode: number | null; exitSignal: string | null }): void;
}

export class Pty {
  readonly pid: number;
  readonly #pty: IPty;
  readonly #descriptor: number;
  readonly #listener: PtyListener;
  #paused: NodeJS.Timeout | null = null;
  #open = true;

  constructor(start: PtyStart, listener: PtyListener) {
    this.#listener = listener;
    this.#pty = spawn(start.file, [...start.arguments], {
      name: 'xterm-256color',
      cols: start.columns,
      rows: start.rows,
      cwd: start.directory,
      env: start.environment,
      // Bytes as they are; the library's types know only strings.
      encoding: null,
    });
    this.pid = this.#pty.pid;
    const { descriptor, stream } = internalsOf(this.#pty);
    this.#descriptor = descriptor;
    stream.on('data', (chunk: Buffer) => {
      listener.output(chunk);
    });
    stream.prependListener('end', () => {
      this.#readRest();
      this.#open = false;
    });
    stream.once('close', () => {
      this.#open = false;
    });
    this.#pty.onExit(({ exitCode, signal }) => {
      this.#open = false;
      this.resume();
      const exitSignal = signalName(signal);
      listener.exited({ exitCode: exitSignal === null ? exitCode : null, exitSignal });
    });
  }

  pause(): void {
    if (this.#paused !== null || !this.#open) return;
    this.#pty.pause();
    this.#paused = setInterval(() => {
      if (!exists(this.pid)) this.resume();
    }, PAUSED_LOOK_MS);
  }

  resume(): void {
    if (this.#paused === null) return;
    clearInterval(this.#paused);
    this.#paused = null;
    this.#pty.resume();
  }

  /** How many bytes were taken; 0 when it would block; null when the terminal is closed. */
  tryWrite(bytes: Uint8Array): number | null {
    if (!this.#open) return null;
    try {
      return writeSync(this.#descriptor, bytes);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : null;
    }
  }

  resize(columns: number, rows: number): void {
    if (!this.#open) return;
    try {
      this.#pty.resize(columns, rows);
    } catch {
      // The terminal closed under us: its exit is on the way.
    }
  }

  #readRest(): void {
    const buffer = Buffer.allocUnsafe(REST_BYTES);
    for (;;) {
      let length: number;
      try {
        length = readSync(this.#descriptor, buffer);
      } catch {
        return; // EIO: nothing is left.
      }
      if (length === 0) return;
      this.#listener.output(buffer.subarray(0, length));
    }
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The library gives numbers, and 0 for none. */
function signalName(signal: number | undefined): string | null {
  if (signal === undefined || signal === 0) return null;
  for (const [name, number] of Object.entries(constants.signals)) if (number === signal) return name;
  return `signal ${signal}`;
}

/** The master's descriptor and stream, which the library has but does not declare. */
function internalsOf(pty: IPty): { descriptor: number; stream: Readable } {
  const { fd, _socket: stream } = pty as unknown as { fd?: unknown; _socket?: unknown };
  if (
    typeof fd !== 'number' ||
    typeof stream !== 'object' ||
    stream === null ||
    !('prependListener' in stream)
  )
    throw new Error('the PTY library no longer gives its descriptor and stream');
  return { descriptor: fd, stream: stream as Readable };
}
