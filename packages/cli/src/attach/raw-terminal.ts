/**
 * The user's terminal on loan: raw while a session is on it, and given back as it was however this process ends, short
 * of SIGKILL.
 */
import { TERMINAL_RESET } from '@roost/protocol';

/** The window's title is kept on the terminal's own stack meanwhile. */
const SAVE_TITLE = '\x1b[22;0t';
const RESTORE_TITLE = '\x1b[23;0t';

export class RawTerminal {
  readonly #stdin: NodeJS.ReadStream;
  readonly #stdout: NodeJS.WriteStream;
  #borrowed = false;
  readonly #onExit = (): void => this.restore();

  constructor(stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream) {
    this.#stdin = stdin;
    this.#stdout = stdout;
  }

  get size(): { columns: number; rows: number } {
    return { columns: clampSide(this.#stdout.columns, 80), rows: clampSide(this.#stdout.rows, 24) };
  }

  borrow(): void {
    if (this.#borrowed) return;
    this.#borrowed = true;
    process.once('exit', this.#onExit);
    this.#stdin.setRawMode(true);
    this.#stdout.write(SAVE_TITLE);
  }

  /** Raw again after a suspension: the shell set its own mode meanwhile, and the runtime does not know. */
  renew(): void {
    if (!this.#borrowed) return;
    this.#stdin.setRawMode(false);
    this.#stdin.setRawMode(true);
  }

  restore(): void {
    if (!this.#borrowed) return;
    this.#borrowed = false;
    process.off('exit', this.#onExit);
    // Writes to a terminal are synchronous here: this also works while the process exits.
    this.#stdout.write(`${TERMINAL_RESET}${RESTORE_TITLE}\x1b[${this.size.rows};1H\r\n`);
    try {
      this.#stdin.setRawMode(false);
    } catch {
      // The terminal itself is gone.
    }
  }
}

function clampSide(cells: number | undefined, fallback: number): number {
  return cells === undefined || !(cells >= 1) ? fallback : Math.min(cells, 1000);
}
