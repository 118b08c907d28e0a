/**
 * What a terminal remembers besides its cells, and the emulator does not tell: followed by parser hooks that never stop
 * the emulator from acting, and given back as bytes for a terminal in the state that `TERMINAL_RESET` leaves.
 */
import type { Terminal } from '@xterm/headless';
import type { EmulatorBuffer, EmulatorInternals } from './emulator-internals.ts';

/** Private modes that are only on or off here: reverse video and the ways to encode the mouse. */
const FOLLOWED_PRIVATE_MODES: ReadonlySet<number> = new Set([5, 1005, 1006, 1015, 1016]);
const MOUSE_TRACKING = {
  none: '',
  x10: '\x1b[?9h',
  vt200: '\x1b[?1000h',
  drag: '\x1b[?1002h',
  any: '\x1b[?1003h',
};
/** Character sets that the emulator knows; any other designation means ASCII to it. */
const CHARACTER_SETS = ['0', 'A', 'B', '4', 'C', '5', 'R', 'Q', 'K', 'Y', 'E', '6', 'Z', 'H', '7', '='];
const ICON_CHARACTERS_MAX = 1024;

interface Charset {
  readonly g0: string;
  readonly g1: string;
  readonly shift: number;
}
const ASCII: Charset = { g0: 'B', g1: 'B', shift: 0 };

/** What DECSC saved, but for column and attributes, which the emulator keeps. */
interface Saved {
  readonly row: number;
  readonly charset: Charset;
}
const NEVER_SAVED: Saved = { row: 0, charset: ASCII };

export class Modes {
  cursorVisible = true;
  #cursorBlink = false;
  #cursorShape = 0;
  /** null: never touched, so whatever the terminal does by default. */
  #alternateScroll: boolean | null = null;
  #modifyOtherKeys: number | null = null;
  readonly #on = new Set<number>();
  #iconName: string | null = null;
  #g0 = 'B';
  #g1 = 'B';
  #saved: { normal: Saved; alternate: Saved } = { normal: NEVER_SAVED, alternate: NEVER_SAVED };
  readonly #terminal: Terminal;
  readonly #internals: EmulatorInternals;

  constructor(terminal: Terminal, internals: EmulatorInternals) {
    this.#terminal = terminal;
    this.#internals = internals;
    this.#followModes();
    this.#followCharsets();
    const { parser } = terminal;
    parser.registerCsiHandler({ intermediates: ' ', final: 'q' }, ([shape]) => {
      this.#cursorShape = typeof shape === 'number' && shape <= 6 ? shape : 0;
      return false;
    });
    parser.registerCsiHandler({ prefix: '>', final: 'm' }, ([resource, value]) => {
      if (resource === 4 || resource === 0) {
        this.#modifyOtherKeys = resource === 4 && typeof value === 'number' ? value : null;
      }
      return false;
    });
    for (const code of [0, 1]) {
      parser.registerOscHandler(code, (data) => {
        this.#iconName = data.slice(0, ICON_CHARACTERS_MAX);
        return false;
      });
    }
    parser.registerCsiHandler({ intermediates: '!', final: 'p' }, () => {
      this.#softReset();
      return false;
    });
  }

  /** RIS. The two emulator options are modes that it forgets to reset. */
  reset(): void {
    this.#softReset();
    this.#cursorBlink = false;
    this.#alternateScroll = null;
    this.#modifyOtherKeys = null;
    this.#on.clear();
    this.#saved = { normal: NEVER_SAVED, alternate: NEVER_SAVED };
    this.#terminal.options.convertEol = false;
    this.#terminal.options.cursorBlink = false;
  }

  /** Everything that neither moves the cursor nor changes how text is drawn. */
  restore(): string {
    const { modes } = this.#terminal;
    let out = '';
    if (this.#iconName !== null) out += `\x1b]1;${this.#iconName}\x1b\\`;
    if (modes.applicationCursorKeysMode) out += '\x1b[?1h';
    if (modes.applicationKeypadMode) out += '\x1b=';
    if (modes.bracketedPasteMode) out += '\x1b[?2004h';
    if (modes.sendFocusMode) out += '\x1b[?1004h';
    if (modes.reverseWraparoundMode) out += '\x1b[?45h';
    out += MOUSE_TRACKING[modes.mouseTrackingMode];
    for (const mode of this.#on) out += `\x1b[?${mode}h`;
    if (this.#alternateScroll !== null) out += `\x1b[?1007${this.#alternateScroll ? 'h' : 'l'}`;
    if (this.#modifyOtherKeys !== null) out += `\x1b[>4;${this.#modifyOtherKeys}m`;
    if (this.#cursorShape !== 0) out += `\x1b[${this.#cursorShape} q`;
    if (this.#cursorBlink) out += '\x1b[?12h';
    if (!this.cursorVisible) out += '\x1b[?25l';
    return out;
  }

  /** Everything that changes how text is drawn: last. */
  restoreDrawing(): string {
    const { modes, options } = this.#terminal;
    let out = charsetSequence(this.#charset);
    if (modes.insertMode) out += '\x1b[4h';
    if (options.convertEol === true) out += '\x1b[20h';
    if (!modes.wraparoundMode) out += '\x1b[?7l';
    return out;
  }

  /** Row of the screen on which the cursor was saved. */
  savedRow(screen: 'normal' | 'alternate'): number {
    return Math.min(this.#saved[screen].row, this.#terminal.rows - 1);
  }

  /** Runs `save`, a sequence that saves the cursor, with the character sets that are to be saved with it. */
  restoreSaved(screen: 'normal' | 'alternate', save: string): string {
    const { charset } = this.#saved[screen];
    if (charset === ASCII) return save;
    return `${charsetSequence(charset)}${save}\x1b(B\x1b)B\x0f`;
  }

  get #charset(): Charset {
    return { g0: this.#g0, g1: this.#g1, shift: this.#internals.shift };
  }

  #followModes(): void {
    const { parser } = this.#terminal;
    for (const on of [true, false]) {
      parser.registerCsiHandler({ prefix: '?', final: on ? 'h' : 'l' }, (parameters) => {
        for (const mode of parameters) {
          if (typeof mode === 'number') this.#privateMode(mode, on);
        }
        return false;
      });
    }
  }

  #privateMode(mode: number, on: boolean): void {
    switch (mode) {
      case 12:
        this.#cursorBlink = on;
        break;
      case 25:
        this.cursorVisible = on;
        break;
      case 1007:
        this.#alternateScroll = on;
        break;
      case 1048:
      case 1049:
        if (on) this.#save();
        else this.#beforeRestore(mode === 1049 ? 'normal' : this.#screen);
        break;
      default:
        if (!FOLLOWED_PRIVATE_MODES.has(mode)) return;
        this.#on.delete(mode);
        // The last one set wins on terminals where they exclude each other, so order counts.
        if (on) this.#on.add(mode);
    }
  }

  #followCharsets(): void {
    const { parser } = this.#terminal;
    const follow = (id: { intermediates?: string; final: string }, act: () => void) =>
      parser.registerEscHandler(id, () => {
        act();
        return false;
      });
    for (const final of CHARACTER_SETS) {
      follow({ intermediates: '(', final }, () => (this.#g0 = final));
      follow({ intermediates: ')', final }, () => (this.#g1 = final));
    }
    for (const final of ['@', 'G']) follow({ intermediates: '%', final }, () => (this.#g0 = 'B'));
    follow({ final: '7' }, () => this.#save());
    follow({ final: '8' }, () => this.#beforeRestore(this.#screen));
    parser.registerCsiHandler({ final: 's' }, () => {
      this.#save();
      return false;
    });
    parser.registerCsiHandler({ final: 'u' }, () => {
      this.#beforeRestore(this.#screen);
      return false;
    });
  }

  get #screen(): 'normal' | 'alternate' {
    return this.#terminal.buffer.active.type;
  }

  #save(): void {
    const { g0, g1, shift } = this.#charset;
    const charset = g0 === 'B' && g1 === 'B' && shift === 0 ? ASCII : { g0, g1, shift };
    this.#saved[this.#screen] = { row: this.#buffer(this.#screen).y, charset };
  }

  #beforeRestore(screen: 'normal' | 'alternate'): void {
    ({ g0: this.#g0, g1: this.#g1 } = this.#saved[screen].charset);
    this.#internals.prepareRestore(this.#buffer(screen), this.savedRow(screen));
  }

  #buffer(screen: 'normal' | 'alternate'): EmulatorBuffer {
    return screen === 'normal' ? this.#internals.normal : this.#internals.alternate;
  }

  #softReset(): void {
    this.cursorVisible = true;
    this.#cursorShape = 0;
    this.#g0 = 'B';
    this.#g1 = 'B';
    this.#saved[this.#screen] = NEVER_SAVED;
  }
}

function charsetSequence({ g0, g1, shift }: Charset): string {
  const designated = `${g0 === 'B' ? '' : `\x1b(${g0}`}${g1 === 'B' ? '' : `\x1b)${g1}`}`;
  return designated + (shift === 1 ? '\x0e' : '');
}
