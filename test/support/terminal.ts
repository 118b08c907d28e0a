/** A person's terminal for tests: a PTY with an emulator behind it, in which a command runs. */
import { spawn, type IPty } from '@lydell/node-pty';
import headless from '@xterm/headless';
import { waitFor } from './wait-for.ts';

export class Terminal {
  readonly #pty: IPty;
  readonly #emulator: headless.Terminal;
  #raw = '';
  #exitCode: number | null = null;
  #parsed: Promise<void> = Promise.resolve();

  constructor(
    file: string,
    args: readonly string[],
    options: { cwd: string; env: Record<string, string>; columns: number; rows: number },
  ) {
    const { cwd, env, columns, rows } = options;
    this.#emulator = new headless.Terminal({
      cols: columns,
      rows,
      scrollback: 5_000,
      allowProposedApi: true,
    });
    this.#pty = spawn(file, [...args], { name: 'xterm-256color', cols: columns, rows, cwd, env });
    this.#emulator.onData((answer) => {
      if (this.#exitCode === null) this.#pty.write(answer);
    });
    this.#pty.onData((data) => {
      this.#raw = (this.#raw + data).slice(-1_000_000);
      this.#parsed = new Promise((resolve) => this.#emulator.write(data, resolve));
    });
    this.#pty.onExit(({ exitCode }) => {
      this.#exitCode = exitCode;
    });
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /** The last million characters that the command wrote. */
  get raw(): string {
    return this.#raw;
  }

  get exitCode(): number | null {
    return this.#exitCode;
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  resize(columns: number, rows: number): void {
    this.#emulator.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  async lines(): Promise<string[]> {
    await this.#parsed;
    const { active } = this.#emulator.buffer;
    return Array.from({ length: this.#emulator.rows }, (_, row) =>
      (active.getLine(active.baseY + row)?.translateToString(true) ?? '').trimEnd(),
    );
  }

  async text(): Promise<string> {
    return (await this.lines()).join('\n');
  }

  shows(pattern: RegExp, timeoutMs = 15_000): Promise<string> {
    return waitFor(
      `the terminal to show ${String(pattern)}`,
      async () => {
        const text = await this.text();
        return pattern.test(text) ? text : null;
      },
      { timeoutMs, state: () => this.lines() },
    );
  }

  ended(timeoutMs = 15_000): Promise<number> {
    return waitFor('the command to end', () => (this.#exitCode === null ? null : { code: this.#exitCode }), {
      timeoutMs,
      state: () => this.lines(),
    }).then(({ code }) => code);
  }

  dispose(): void {
    if (this.#exitCode === null) {
      try {
        process.kill(this.#pty.pid, 'SIGKILL');
      } catch {
        // Gone already.
      }
    }
    this.#emulator.dispose();
  }
}
