// A real CLI on a real terminal, photographed. What a photograph is said to show comes from the script that drives it, never
// from what is seen on it.
import { setTimeout as delay } from 'node:timers/promises';
import { TerminalForTest } from '../terminal-for-test.ts';

export type ScreenState = 'starting' | 'idle' | 'working' | 'blocked' | 'exited';

export interface ScreenFixture {
  cli: string;
  version: string;
  columns: number;
  rows: number;
  /** The last title that the CLI set; null when it set none. */
  title: string | null;
  /** What came last in OSC 9;4, such as `3;0`; null when nothing came. */
  progress: string | null;
  state: ScreenState;
  reason?: string;
  /** One for each row, without the spaces at its end. */
  lines: string[];
}

export interface StageOptions {
  cli: string;
  version: string;
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  columns?: number;
  rows?: number;
}

const POLL_MS = 25;

export class Stage {
  readonly terminal: TerminalForTest;
  readonly shots = new Map<string, ScreenFixture>();
  readonly #options: StageOptions;
  #title: string | null = null;
  #progress: string | null = null;

  constructor(options: StageOptions) {
    this.#options = options;
    this.terminal = new TerminalForTest({ columns: 100, rows: 30, ...options });
    this.terminal.screen.onTitleChange((title) => (this.#title = title));
    this.terminal.screen.parser.registerOscHandler(9, (data) => {
      if (data.startsWith('4;')) this.#progress = data.slice(2);
      return false;
    });
  }

  async shoot(name: string, state: ScreenState, reason?: string): Promise<ScreenFixture> {
    const shown = (await this.terminal.read()).split('\n');
    const { cols: columns, rows } = this.terminal.screen;
    const lines = Array.from({ length: rows }, (_, row) => shown[row]?.trimEnd() ?? '');
    const { cli, version } = this.#options;
    const shot: ScreenFixture = {
      cli,
      version,
      columns,
      rows,
      title: this.#title,
      progress: this.#progress,
      state,
      ...(reason === undefined ? {} : { reason }),
      lines,
    };
    this.shots.set(name, shot);
    return shot;
  }

  /** Types as a person does: these CLIs take a line end that comes right behind a text for a part of a paste. */
  async prompt(text: string): Promise<void> {
    await this.type(text);
    this.press('\r');
  }

  async type(text: string): Promise<void> {
    this.press(text);
    const end = text.slice(-6);
    for (let waited = 0; waited < 8000 && !(await this.terminal.read()).includes(end); waited += 50)
      await delay(50);
    await delay(500);
  }

  press(keys: string): void {
    this.terminal.write(keys);
  }

  /** Until the screen has not changed for a while, or for `capMs` where something keeps moving. */
  async settle({ quietMs = 700, capMs = 6000 } = {}): Promise<void> {
    const end = performance.now() + capMs;
    let last = '';
    let since = performance.now();
    for (;;) {
      const now = await this.terminal.read();
      if (now !== last) [last, since] = [now, performance.now()];
      if (performance.now() - since >= quietMs || performance.now() > end) return;
      await delay(POLL_MS);
    }
  }

  async sees(pattern: RegExp, deadlineMs = 40_000): Promise<void> {
    await this.terminal.waitForScreen(String(pattern), (screen) => pattern.test(screen), deadlineMs);
    await this.settle({ quietMs: 300, capMs: 1500 });
  }

  async resize(columns: number, rows: number): Promise<void> {
    this.terminal.screen.resize(columns, rows);
    this.terminal.process.resize(columns, rows);
    await this.settle({ quietMs: 1000, capMs: 4000 });
  }

  close(): Promise<void> {
    return this.terminal.close();
  }
}
