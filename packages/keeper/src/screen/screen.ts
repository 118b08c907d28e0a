/**
 * The picture of one terminal session: parses what the program writes, answers what the program asks, and draws itself
 * for a terminal that attaches.
 *
 * - `write` is synchronous: when it returns, the screen is right at that byte.
 * - Only reports go to `answer`, each once. Attached terminals see the program's questions too; `ReplyFilter` takes their
 *   answers out of the keystrokes.
 * - A snapshot restores the terminal as a whole: both screens, cursor, modes, colors. What the emulator does not tell is
 *   followed by hooks (modes.ts, colors.ts, keyboard-flags.ts, hyperlinks.ts).
 */
import { Terminal } from '@xterm/headless';
import { TERMINAL_RESET } from '@roost/protocol/terminal-reset';
import type { ScreenText } from '../wire.ts';
import { useCurrentWidths } from './character-width.ts';
import { Colors } from './colors.ts';
import { drawLines } from './draw-lines.ts';
import { attributesOf, type EmulatorBuffer, EmulatorInternals } from './emulator-internals.ts';
import { limitSequences } from './emulator-limits.ts';
import { Hyperlinks } from './hyperlinks.ts';
import { KeyboardFlags } from './keyboard-flags.ts';
import { Modes } from './modes.ts';
import { laterUnderlineColor, penOf } from './pen.ts';

/** The emulator keeps 4 bytes per byte of the largest piece it ever parsed, for each screen. */
const PARSE_BYTES = 16 * 1024;
/** Titles are shown in lists and sent in events. */
const TITLE_CHARACTERS_MAX = 1024;
/** How long after a cursor query its answer may still come from an attached terminal. */
const CURSOR_ANSWER_MS = 5_000;

export interface ScreenOptions {
  readonly columns: number;
  readonly rows: number;
  readonly scrollbackLines: number;
  /** A report for the program, to be written to its terminal. Called inside `write`; must not call back. */
  readonly answer: (report: string) => void;
  /** The title changed. Called inside `write`; must not call back. */
  readonly changed: () => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

export class Screen {
  protected readonly terminal: Terminal;
  protected readonly internals: EmulatorInternals;
  readonly #modes: Modes;
  readonly #colors: Colors;
  readonly #keyboard: KeyboardFlags;
  readonly #links: Hyperlinks;
  readonly #scrollbackLines: number;
  readonly #now: () => number;
  #title: string | null = null;
  #cursorQueriedAt = -Infinity;

  constructor({ columns, rows, scrollbackLines, answer, changed, now }: ScreenOptions) {
    this.#scrollbackLines = scrollbackLines;
    this.#now = now ?? (() => performance.now());
    this.terminal = new Terminal({
      cols: columns,
      rows,
      scrollback: scrollbackLines,
      logLevel: 'off',
      allowProposedApi: true,
      windowOptions: { getWinSizeChars: true, pushTitle: true, popTitle: true },
    });
    this.internals = new EmulatorInternals(this.terminal);
    useCurrentWidths(this.terminal);
    limitSequences(this.terminal, this.internals);
    this.#modes = new Modes(this.terminal, this.internals);
    this.#colors = new Colors(this.terminal, answer);
    this.#keyboard = new KeyboardFlags(this.terminal, answer);
    this.#links = new Hyperlinks(this.terminal, this.internals);
    this.terminal.onData(answer);
    this.terminal.onTitleChange((title) => {
      // An empty title is none: drawing it would wipe the name that the user's terminal has.
      const shown = title.slice(0, TITLE_CHARACTERS_MAX) || null;
      if (shown === this.#title) return;
      this.#title = shown;
      changed();
    });
    this.terminal.parser.registerEscHandler({ final: 'c' }, () => {
      this.#modes.reset();
      this.#colors.reset();
      this.#keyboard.reset();
      return false;
    });
    for (const id of [{ final: 'n' }, { prefix: '?', final: 'n' }]) {
      this.terminal.parser.registerCsiHandler(id, ([report]) => {
        if (report === 6) this.#cursorQueriedAt = this.#now();
        return false;
      });
    }
  }

  /** Parses at once. Ends of `bytes` may fall anywhere, but a snapshot is only whole between two sequences. */
  write(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length; start += PARSE_BYTES) {
      this.internals.parse(bytes.subarray(start, start + PARSE_BYTES));
    }
  }

  resize(columns: number, rows: number): void {
    this.terminal.resize(columns, rows);
  }

  get columns(): number {
    return this.terminal.cols;
  }

  get rows(): number {
    return this.terminal.rows;
  }

  get title(): string | null {
    return this.#title;
  }

  get alternateScreen(): boolean {
    return this.terminal.buffer.active.type === 'alternate';
  }

  get bracketedPaste(): boolean {
    return this.terminal.modes.bracketedPasteMode;
  }

  /** True while an attached terminal's answer to a cursor query may still arrive. */
  get cursorQueried(): boolean {
    return this.#now() - this.#cursorQueriedAt < CURSOR_ANSWER_MS;
  }

  /**
   * Bytes that draw everything on a terminal of the same size in any state. With scrollback, what stood on that terminal
   * moves up into its history and the session's last lines follow it there; with 0 only the screen is redrawn.
   */
  snapshot({ scrollbackLines }: { readonly scrollbackLines: number }): Uint8Array {
    return Buffer.from(this.draw(scrollbackLines), 'utf8');
  }

  /** The same as text. */
  draw(scrollbackLines: number): string {
    const { normal, alternate } = this.terminal.buffer;
    const bottom = normal.baseY + this.rows;
    const keepHistory = scrollbackLines > 0 ? `\x1b[9999;1H${'\n'.repeat(this.rows)}` : '';
    let out = TERMINAL_RESET + keepHistory + CLEAR + this.#tabStops(this.internals.normal) + HOME;
    out += this.#lines(normal, Math.max(0, normal.baseY - scrollbackLines), bottom);
    out += this.#screenState(this.internals.normal, 'normal');
    if (this.alternateScreen) {
      // Saves the cursor once more: leaving this screen will restore it.
      out += `${this.#savedCursor(this.internals.normal, 'normal', '\x1b[?1049h')}${CLEAR}`;
      out += this.#tabStops(this.internals.alternate) + HOME;
      out += this.#lines(alternate, 0, this.rows);
      out += this.#screenState(this.internals.alternate, 'alternate');
    }
    if (this.#title !== null) out += `\x1b]2;${this.#title}\x1b\\`;
    out += this.#colors.restore() + this.#modes.restore() + this.#cursor() + this.#modes.restoreDrawing();
    return out;
  }

  /** Text of the screen below at most `scrollback` older lines. The alternate screen has no older lines. */
  readText(scrollback: number): ScreenText {
    const { active } = this.terminal.buffer;
    const first = Math.max(0, active.baseY - scrollback);
    const lines: string[] = [];
    for (let row = first; row < active.baseY + this.rows; row++) {
      lines.push(active.getLine(row)?.translateToString(true).trimEnd() ?? '');
    }
    const full = !this.alternateScreen && this.#scrollbackLines > 0 && active.baseY >= this.#scrollbackLines;
    return {
      lines,
      size: { columns: this.columns, rows: this.rows },
      cursor: {
        column: Math.min(active.cursorX, this.columns - 1),
        row: active.cursorY,
        visible: this.#modes.cursorVisible,
      },
      title: this.#title,
      alternateScreen: this.alternateScreen,
      truncated: first > 0 || full,
    };
  }

  dispose(): void {
    this.terminal.dispose();
  }

  #lines(buffer: Parameters<typeof drawLines>[0], from: number, to: number): string {
    return drawLines(buffer, from, to, this.columns, (id) => this.#links.sequence(id));
  }

  /** What each screen has of its own: keyboard flags, scroll region, saved cursor. */
  #screenState(buffer: EmulatorBuffer, screen: 'normal' | 'alternate'): string {
    const full = buffer.scrollTop === 0 && buffer.scrollBottom === this.rows - 1;
    const region = full ? '\x1b[r' : `\x1b[${buffer.scrollTop + 1};${buffer.scrollBottom + 1}r`;
    return this.#keyboard.restore(screen) + region + this.#savedCursor(buffer, screen, '\x1b7');
  }

  #savedCursor(buffer: EmulatorBuffer, screen: 'normal' | 'alternate', save: string): string {
    const { sgr } = penOf(buffer.savedCurAttrData);
    return `\x1b[${this.#modes.savedRow(screen) + 1};${Math.min(buffer.savedX + 1, this.columns)}H${sgr}${this.#modes.restoreSaved(screen, save)}\x1b[m`;
  }

  #tabStops(buffer: EmulatorBuffer): string {
    let out = '\x1b[3g';
    for (let column = 0; column < this.columns; column++) {
      if (buffer.tabs[column] === true) out += `\x1b[${column + 1}G\x1bH`;
    }
    return out;
  }

  /** Position, attributes and link of the cursor. */
  #cursor(): string {
    const buffer = this.alternateScreen ? this.internals.alternate : this.internals.normal;
    const { originMode } = this.terminal.modes;
    const row = buffer.y - (originMode ? buffer.scrollTop : 0) + 1;
    let out = originMode ? '\x1b[?6h' : '';
    if (buffer.x < this.columns) out += `\x1b[${row};${buffer.x + 1}H`;
    else out += this.#pendingWrap(row);
    const pen = penOf(this.internals.attributes);
    out += pen.sgr + laterUnderlineColor(this.internals.attributes);
    return out + (pen.link === 0 ? '' : this.#links.sequence(pen.link));
  }

  /** Only printing into the last column brings a cursor behind it: print again what is there. */
  #pendingWrap(row: number): string {
    const { active } = this.terminal.buffer;
    const line = active.getLine(active.baseY + active.cursorY);
    const last = line?.getCell(this.columns - 1);
    const wide = last?.getWidth() === 0;
    const cell = wide ? line?.getCell(this.columns - 2) : last;
    if (cell === undefined) return `\x1b[${row};${this.columns}H`;
    const pen = penOf(attributesOf(cell));
    const link = pen.link === 0 ? '' : this.#links.sequence(pen.link);
    const text = cell.getChars() || ' ';
    return `\x1b[${row};${this.columns - (wide ? 1 : 0)}H${pen.sgr}${link}${text}${link && this.#links.sequence(0)}`;
  }
}

const HOME = '\x1b[H';
/** Not ED 2, which some terminals take as a wish to keep the page in their history. */
const CLEAR = `${HOME}\x1b[J`;
