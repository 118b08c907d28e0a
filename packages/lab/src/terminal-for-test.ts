// A real PTY with a headless screen, for the lab's own tests. It answers queries, as a terminal does.
import pty, { type IPty } from '@lydell/node-pty';
import headless, { type Terminal } from '@xterm/headless';

interface TerminalOptions {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  columns?: number;
  rows?: number;
  /** False leaves queries unanswered. */
  answers?: boolean;
}

export interface TerminalExit {
  exitCode: number;
  signal: number | undefined;
}

export class TerminalForTest {
  readonly process: IPty;
  readonly screen: Terminal;
  readonly exit: Promise<TerminalExit>;
  #raw = '';
  #exited = false;

  constructor({ file, args, cwd, env, columns = 120, rows = 40, answers = true }: TerminalOptions) {
    this.screen = new headless.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true });
    this.process = pty.spawn(file, [...args], {
      cols: columns,
      rows,
      cwd,
      env: { ...env },
      name: 'xterm-256color',
    });
    this.process.onData((data) => {
      this.#raw += data;
      this.screen.write(data);
    });
    if (answers) this.screen.onData((data) => this.process.write(data));
    this.exit = new Promise((resolve) =>
      this.process.onExit(({ exitCode, signal }) => {
        this.#exited = true;
        void this.#drained().then(() => resolve({ exitCode, signal }));
      }),
    );
  }

  /** The last output may arrive after the news of the exit: wait until nothing has come for a moment. More than a few
   * KiB printed right before an exit can be lost below us, so tests of floods wait for their end instead. */
  async #drained(): Promise<void> {
    for (let seen = -1; seen !== this.#raw.length;) {
      seen = this.#raw.length;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Everything that came out so far, as it came. */
  get raw(): string {
    return this.#raw;
  }

  write(data: string): void {
    this.process.write(data);
  }

  /** The visible rows, after all bytes so far are parsed. */
  async read(): Promise<string> {
    await new Promise<void>((resolve) => this.screen.write('', resolve));
    const buffer = this.screen.buffer.active;
    const rows = Array.from(
      { length: this.screen.rows },
      (_, row) =>
        // A terminal that was made narrower keeps the cells beyond its edge.
        buffer.getLine(buffer.baseY + row)?.translateToString(true, 0, this.screen.cols) ?? '',
    );
    return rows.join('\n').trimEnd();
  }

  /** Waits until the output so far satisfies the condition; the deadline's error shows the screen. */
  waitFor(what: string, condition: (raw: string) => boolean, deadlineMs = 10_000): Promise<void> {
    return this.#waitUntil(what, () => Promise.resolve(condition(this.#raw)), deadlineMs);
  }

  /** The same for the visible screen. */
  waitForScreen(what: string, condition: (screen: string) => boolean, deadlineMs = 10_000): Promise<void> {
    return this.#waitUntil(what, async () => condition(await this.read()), deadlineMs);
  }

  async #waitUntil(what: string, isTrue: () => Promise<boolean>, deadlineMs: number): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    while (!(await isTrue())) {
      if (performance.now() > deadline)
        throw new Error(`no ${what} within ${deadlineMs} ms; the screen:\n${await this.read()}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** The child leads a process group of its own; launchers keep their native child in it. */
  async close(): Promise<void> {
    if (!this.#exited) process.kill(-this.process.pid, 'SIGKILL');
    await this.exit;
    this.screen.dispose();
  }
}
