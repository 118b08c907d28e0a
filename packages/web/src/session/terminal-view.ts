/** The emulator in its place on the page: drawing, fitting, keys. */
import { FitAddon } from '@xterm/addon-fit';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import { WebglAddon } from '@xterm/addon-webgl';
import { Terminal, type ITheme } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { OwnStyles } from './own-styles.ts';
import type { TerminalScreen, TerminalSize } from './terminal-session.ts';

/** Pixels of a letter: usual, and the least at which a watched screen that is too wide is still drawn. */
const FONT_PX = { usual: 13, least: 6 } as const;
/** Lines kept above the screen. */
const SCROLLBACK_LINES = 5_000;
const SMALLEST: TerminalSize = { columns: 20, rows: 5 };

/** Dark in both colour schemes: what programs draw is made for it. */
const THEME: ITheme = {
  background: '#14171a',
  foreground: '#dbe2ea',
  cursor: '#dbe2ea',
  selectionBackground: '#3b5b7d',
  black: '#30363d',
  red: '#ff7b72',
  green: '#56d364',
  yellow: '#e3b341',
  blue: '#6cb6ff',
  magenta: '#d2a8ff',
  cyan: '#56d4dd',
  white: '#c9d1d9',
  brightBlack: '#8b949e',
  brightRed: '#ffa198',
  brightGreen: '#7ee787',
  brightYellow: '#f2cc60',
  brightBlue: '#a5d6ff',
  brightMagenta: '#e2c5ff',
  brightCyan: '#b3f0ff',
  brightWhite: '#ffffff',
};

export class TerminalView implements TerminalScreen {
  readonly #place: HTMLElement;
  readonly #terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #observer: ResizeObserver;
  readonly #styles: OwnStyles;
  /** null: as large as fits. */
  #fixed: TerminalSize | null = null;
  #onFit: (size: TerminalSize) => void = () => undefined;

  constructor(place: HTMLElement, { label }: { readonly label: string }) {
    this.#place = place;
    this.#styles = new OwnStyles(place.ownerDocument);
    this.#terminal = new Terminal({
      allowProposedApi: true,
      documentOverride: this.#styles.document,
      fontFamily: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
      fontSize: FONT_PX.usual,
      scrollback: SCROLLBACK_LINES,
      theme: THEME,
      macOptionIsMeta: true,
      minimumContrastRatio: 1,
    });
    this.#terminal.loadAddon(this.#fit);
    this.#terminal.loadAddon(new Unicode11Addon());
    this.#terminal.unicode.activeVersion = '11';
    this.#styles.during(() => this.#terminal.open(place));
    this.#terminal.textarea?.setAttribute('aria-label', label);
    this.#drawFast();
    this.#observer = new ResizeObserver(() => this.#arrange());
    this.#observer.observe(place);
  }

  /** Told of keystrokes, pastes, and the emulator's own answers to programs. */
  onInput(listener: (bytes: Uint8Array) => void): void {
    const encoder = new TextEncoder();
    this.#terminal.onData((text) => listener(encoder.encode(text)));
    this.#terminal.onBinary((text) => listener(Uint8Array.from(text, (unit) => unit.charCodeAt(0) & 0xff)));
  }

  /** Told of the size that fits, whenever that is another one and no size was given. */
  onFit(listener: (size: TerminalSize) => void): void {
    this.#onFit = listener;
  }

  size(): TerminalSize {
    const fitting = this.#fit.proposeDimensions();
    if (fitting === undefined || !Number.isFinite(fitting.cols)) return { columns: 80, rows: 24 };
    return {
      columns: Math.max(SMALLEST.columns, fitting.cols),
      rows: Math.max(SMALLEST.rows, fitting.rows),
    };
  }

  write(bytes: Uint8Array, onShown: () => void): void {
    this.#terminal.write(bytes, onShown);
  }

  /** The size that somebody else has given it: the letters get smaller until it fits. null: as large as fits. */
  fix(size: TerminalSize | null): void {
    this.#fixed = size;
    this.#arrange();
  }

  set isForScreenReaders(value: boolean) {
    this.#terminal.options.screenReaderMode = value;
  }

  focus(): void {
    this.#terminal.focus();
  }

  /** Gives the program a key by what it sends. */
  press(text: string): void {
    this.#terminal.input(text, true);
  }

  dispose(): void {
    this.#observer.disconnect();
    this.#terminal.dispose();
    this.#styles.dispose();
  }

  #arrange(): void {
    if (this.#place.clientWidth === 0) return;
    this.#terminal.options.fontSize = FONT_PX.usual;
    if (this.#fixed === null) {
      const size = this.size();
      if (size.columns === this.#terminal.cols && size.rows === this.#terminal.rows) return;
      this.#terminal.resize(size.columns, size.rows);
      this.#onFit(size);
      return;
    }
    const { columns, rows } = this.#fixed;
    const fitting = this.size();
    const share = Math.min(1, fitting.columns / columns, fitting.rows / rows);
    this.#terminal.options.fontSize = Math.max(FONT_PX.least, Math.floor(FONT_PX.usual * share * 2) / 2);
    this.#terminal.resize(columns, rows);
  }

  /** By the graphics card where there is one; otherwise, and when it is lost, as text of the page. */
  #drawFast(): void {
    try {
      const fast = new WebglAddon();
      fast.onContextLoss(() => fast.dispose());
      this.#terminal.loadAddon(fast);
    } catch {
      // No WebGL here.
    }
  }
}
