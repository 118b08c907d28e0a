/**
 * The measuring side: a pseudoterminal in which a real client (or, for the bare subject, the program itself) runs, and
 * whose output is read without being interpreted. The hot path counts bytes and looks for one marker.
 */
import { spawn, type IPty } from '@lydell/node-pty';

export const COLUMNS = 120;
export const ROWS = 40;

/** How to start a process; `environment` is its whole environment. */
export interface Launch {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
}

const PATIENCE_MS = 240_000;
const KEY_PATIENCE_MS = 20_000;
const LAST_WORDS_BYTES = 2000;
const MARKER_BYTES_MAX = 128;

interface Wait {
  readonly marker: Buffer;
  readonly resolve: (at: number) => void;
  readonly reject: (reason: Error) => void;
  readonly timer: NodeJS.Timeout;
}

export class Terminal {
  readonly #pty: IPty;
  readonly #exited: Promise<void>;
  #hasExited = false;
  #wait: Wait | undefined;
  #previous: Buffer = Buffer.alloc(0);
  #recorded: Buffer[] | undefined;
  #key = -1;
  #onKey: (at: number) => void = () => undefined;
  bytes = 0;

  private constructor(pty: IPty) {
    this.#pty = pty;
    // Declared as text, but without an encoding it delivers buffers.
    pty.onData((data) => this.#read(data as unknown as Buffer));
    this.#exited = new Promise((resolve) => {
      pty.onExit(() => {
        this.#hasExited = true;
        if (this.#wait !== undefined) clearTimeout(this.#wait.timer);
        this.#wait?.reject(new Error(`the client ended; its last words: ${this.#lastWords()}`));
        resolve();
      });
    });
  }

  static open(launch: Launch): Terminal {
    return new Terminal(
      spawn(launch.file, [...launch.arguments], {
        name: 'xterm-256color',
        cols: COLUMNS,
        rows: ROWS,
        cwd: launch.directory,
        env: { ...launch.environment },
        encoding: null,
      }),
    );
  }

  /** Resolves with the time (`performance.now`) at which the marker had been received. Looks at what comes from now on. */
  until(marker: string, patienceMs = PATIENCE_MS): Promise<number> {
    if (this.#wait !== undefined) throw new Error('one wait at a time');
    if (this.#hasExited) return Promise.reject(new Error('the client has ended'));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#wait = undefined;
        reject(new Error(`no ${marker} within ${patienceMs} ms; last words: ${this.#lastWords()}`));
      }, patienceMs);
      this.#wait = { marker: Buffer.from(marker), resolve, reject, timer };
    });
  }

  /** Keeps everything received from now on. */
  record(): void {
    this.#recorded = [];
  }

  get recorded(): string {
    return Buffer.concat(this.#recorded ?? []).toString('utf8');
  }

  write(text: string): void {
    this.#pty.write(text);
  }

  /** Types one key and resolves with the milliseconds until that byte came back. */
  echo(key: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const lost = setTimeout(
        () => reject(new Error(`a key did not come back; ${this.#lastWords()}`)),
        KEY_PATIENCE_MS,
      );
      this.#key = key.charCodeAt(0);
      const start = performance.now();
      this.#onKey = (at) => {
        this.#key = -1;
        clearTimeout(lost);
        resolve(at - start);
      };
      this.#pty.write(key);
    });
  }

  /** Ends the client and waits until it is gone. */
  async close(): Promise<void> {
    if (!this.#hasExited) this.#pty.kill('SIGHUP');
    const force = setTimeout(() => this.#pty.kill('SIGKILL'), 2000);
    await this.#exited;
    clearTimeout(force);
  }

  #read(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.#key >= 0 && chunk.includes(this.#key)) this.#onKey(performance.now());
    this.#recorded?.push(chunk);
    const wait = this.#wait;
    if (wait !== undefined && this.#contains(chunk, wait.marker)) {
      const at = performance.now();
      this.#wait = undefined;
      clearTimeout(wait.timer);
      wait.resolve(at);
    }
    // A marker may come in pieces smaller than itself.
    this.#previous =
      chunk.length >= MARKER_BYTES_MAX
        ? chunk
        : Buffer.concat([this.#previous.subarray(-MARKER_BYTES_MAX), chunk]);
  }

  #contains(chunk: Buffer, marker: Buffer): boolean {
    if (chunk.includes(marker)) return true;
    const overlap = marker.length - 1;
    return Buffer.concat([this.#previous.subarray(-overlap), chunk.subarray(0, overlap)]).includes(marker);
  }

  #lastWords(): string {
    return JSON.stringify(this.#previous.subarray(-LAST_WORDS_BYTES).toString('utf8'));
  }
}
