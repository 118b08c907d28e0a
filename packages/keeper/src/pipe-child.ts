/** A child on pipes: structured standard input and output, in a process group of its own. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import {
  bytesOf,
  InputClosed,
  InputStalled,
  INPUT_STALL_MS,
  INPUT_WAITING_BYTES_MAX,
} from './input-queue.ts';
import type { InputWrite } from './input-preparation.ts';
import { PipeOutputBuffer } from './pipe-output.ts';
import type { ChildExit, ChildLaunch, PipeStream } from './wire.ts';

/** Milliseconds without output after the exit, when a descendant still holds a pipe open. */
const QUIET_AFTER_EXIT_MS = 300;
/** Bytes handed over at once: each piece that is taken is progress. */
const PIECE_BYTES = 64 * 1024;

export interface PipeChildEvents {
  /** More output is kept. */
  output(stream: PipeStream): void;
  ended(exit: ChildExit): void;
}

export class PipeChild {
  readonly pid: number;
  readonly streams: Readonly<Record<PipeStream, PipeOutputBuffer>>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #events: PipeChildEvents;
  /** Jobs write one after the other: each waits for the one before. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Bytes of the jobs that are not over. */
  #jobBytes = 0;
  #accepted = 0;
  #exit: ChildExit | null = null;
  #quiet: NodeJS.Timeout | null = null;
  #over = false;

  private constructor(
    child: ChildProcessByStdio<Writable, Readable, Readable>,
    pid: number,
    events: PipeChildEvents,
  ) {
    this.#child = child;
    this.pid = pid;
    this.#events = events;
    this.streams = { stdout: new PipeOutputBuffer(child.stdout), stderr: new PipeOutputBuffer(child.stderr) };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].on('data', (bytes: Buffer) => {
        this.streams[stream].append(bytes);
        this.#quiet?.refresh();
        events.output(stream);
      });
      child[stream].on('error', () => {
        // A broken pipe ends the stream; the exit tells the rest.
      });
    }
    // The child may close its input at any time: the next write says so to its sender.
    child.stdin.on('error', () => undefined);
    child.on('exit', (code, signal) => {
      this.#exit = { exitCode: code, exitSignal: signal, endedAt: Date.now() };
      this.#quiet = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, QUIET_AFTER_EXIT_MS);
    });
    child.on('close', () => {
      this.#finish();
    });
  }

  /** Rejects with the system's error when the program cannot be started. */
  static start(
    launch: ChildLaunch,
    environment: Record<string, string>,
    events: PipeChildEvents,
  ): Promise<PipeChild> {
    return new Promise((resolve, reject) => {
      const child = spawn(launch.file, launch.argv.slice(1), {
        argv0: launch.argv[0] ?? launch.file,
        cwd: launch.directory,
        env: environment,
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      child.once('error', reject);
      if (child.pid !== undefined) resolve(new PipeChild(child, child.pid, events));
    });
  }

  /** Bytes of all jobs that were accepted since the start. */
  get inputEnd(): number {
    return this.#accepted;
  }

  /**
   * Writes all of a job; resolves to the bytes written. A program that takes nothing for `INPUT_STALL_MS` loses its input:
   * half a message cannot be taken back, and whatever came after it would be read as its rest.
   */
  submit(writes: readonly InputWrite[]): Promise<number> {
    const bytes = bytesOf(writes);
    if (this.#jobBytes + bytes > INPUT_WAITING_BYTES_MAX) return Promise.reject(new InputStalled(0));
    this.#jobBytes += bytes;
    this.#accepted += bytes;
    const job = this.#turn
      .then(() => this.#writeAll(writes))
      .finally(() => {
        this.#jobBytes -= bytes;
      });
    this.#turn = job.catch(() => undefined);
    return job;
  }

  interrupt(): void {
    try {
      process.kill(-this.pid, 'SIGINT');
    } catch {
      // Gone already: its exit is on the way.
    }
  }

  dispose(): void {
    if (this.#quiet !== null) clearTimeout(this.#quiet);
    this.#child.stdin.destroy();
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }

  async #writeAll(writes: readonly InputWrite[]): Promise<number> {
    let written = 0;
    for (const { bytes } of writes) {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        const piece = bytes.subarray(at, at + PIECE_BYTES);
        await this.#writePiece(piece, written);
        written += piece.length;
      }
    }
    return written;
  }

  #writePiece(piece: Uint8Array, writtenBefore: number): Promise<void> {
    const { stdin } = this.#child;
    return new Promise((resolve, reject) => {
      if (!stdin.writable) {
        reject(new InputClosed('the child has closed its input'));
        return;
      }
      const timer = setTimeout(() => {
        reject(new InputStalled(writtenBefore));
        stdin.destroy();
      }, INPUT_STALL_MS);
      stdin.write(piece, (error) => {
        clearTimeout(timer);
        if (error) reject(new InputClosed('the child has closed its input'));
        else resolve();
      });
    });
  }

  #finish(): void {
    if (this.#quiet !== null) clearTimeout(this.#quiet);
    if (this.#over || this.#exit === null) return;
    this.#over = true;
    this.#events.ended(this.#exit);
  }
}
