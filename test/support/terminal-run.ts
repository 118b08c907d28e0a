/** One run of the command in a real terminal, with everything that it showed. */
import { spawn, type IPty } from '@lydell/node-pty';
import { eventually } from '../../packages/cli/src/testing/eventually.ts';

export class TerminalRun {
  readonly #pty: IPty;
  readonly ended: Promise<{ exitCode: number; signal: number | undefined }>;
  #shown = '';
  #from = 0;

  constructor(args: readonly string[], env: Record<string, string>, size = { cols: 90, rows: 20 }) {
    this.#pty = spawn(process.execPath, [...args], { ...size, env: { ...env, TERM: 'xterm-256color' } });
    this.#pty.onData((text) => {
      this.#shown += text;
    });
    this.ended = new Promise((resolve) =>
      this.#pty.onExit(({ exitCode, signal }) => resolve({ exitCode, signal })),
    );
  }

  get pid(): number {
    return this.#pty.pid;
  }

  get shown(): string {
    return this.#shown;
  }

  /** Waits until the terminal shows `text` after whatever was waited for before. */
  async sees(text: string | RegExp): Promise<void> {
    const pattern = typeof text === 'string' ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : text;
    await eventually(() => this.#shown.slice(this.#from)).toMatch(pattern);
    const match = pattern.exec(this.#shown.slice(this.#from));
    this.#from += (match?.index ?? 0) + (match?.[0].length ?? 0);
  }

  types(text: string): void {
    this.#pty.write(text);
  }

  resize(cols: number, rows: number): void {
    this.#pty.resize(cols, rows);
  }

  end(): void {
    try {
      this.#pty.kill('SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
}
