/**
 * The kitty keyboard protocol's flags, one stack per screen.
 *
 * `CSI ? u` is answered, which tells a program that it may push flags. That is honest because the flags really arrive:
 * the program's bytes go raw to an attached terminal, and a picture of the screen restores the whole stack. A terminal
 * that does not know the protocol ignores the push and keeps sending legacy keys, which every such program must read
 * anyway (text, Enter, Tab and Backspace stay legacy under the usual flags). Not answering would take Shift+Enter and the
 * like from everyone, because a program asks once, at its start, when often nobody is attached.
 */
import type { Terminal } from '@xterm/headless';

/** Deepest stack kept: the oldest entry goes first, as in terminals. */
const STACK_MAX = 32;
const FLAGS_MASK = 0b11111;
/** Empties the stack and clears what is left, whatever it was. */
const CLEAR = '\x1b[<99u\x1b[=0u';

type Parameters = readonly (number | number[])[];

export class KeyboardFlags {
  #normal: number[] = [0];
  #alternate: number[] = [0];
  readonly #terminal: Terminal;

  constructor(terminal: Terminal, answer: (text: string) => void) {
    this.#terminal = terminal;
    const on = (prefix: string, act: (parameters: Parameters) => void) =>
      terminal.parser.registerCsiHandler({ prefix, final: 'u' }, (parameters) => {
        act(parameters);
        return true;
      });
    on('?', () => answer(`\x1b[?${this.#current.at(-1) ?? 0}u`));
    on('>', ([flags]) => {
      this.#current.push(number(flags, 0) & FLAGS_MASK);
      if (this.#current.length > STACK_MAX) this.#current.shift();
    });
    on('<', ([count]) => {
      this.#current.splice(-Math.max(1, number(count, 1)));
      if (this.#current.length === 0) this.#current.push(0);
    });
    on('=', ([flags, mode]) => {
      const wanted = number(flags, 0) & FLAGS_MASK;
      const now = this.#current.pop() ?? 0;
      switch (number(mode, 1)) {
        case 2:
          this.#current.push(now | wanted);
          break;
        case 3:
          this.#current.push(now & ~wanted);
          break;
        default:
          this.#current.push(wanted);
      }
    });
  }

  reset(): void {
    this.#normal = [0];
    this.#alternate = [0];
  }

  /** Sets the stack of that screen on a terminal that shows it. */
  restore(screen: 'normal' | 'alternate'): string {
    const [base, ...pushed] = screen === 'normal' ? this.#normal : this.#alternate;
    const set = base === undefined || base === 0 ? '' : `\x1b[=${base}u`;
    return CLEAR + set + pushed.map((flags) => `\x1b[>${flags}u`).join('');
  }

  get #current(): number[] {
    return this.#terminal.buffer.active.type === 'normal' ? this.#normal : this.#alternate;
  }
}

function number(parameter: number | number[] | undefined, otherwise: number): number {
  return typeof parameter === 'number' && parameter > 0 ? parameter : otherwise;
}
