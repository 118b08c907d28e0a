/**
 * Colors that the program set (OSC 4, 10, 11, 12) and resets (104, 110, 111, 112): kept to draw them again, and to answer
 * the program's questions about them, which the emulator leaves to a renderer that a keeper does not have.
 */
import type { Terminal } from '@xterm/headless';

/** Answered while the program set none: what most terminals look like (light on dark). */
const DEFAULTS = { 10: 'rgb:d8d8/d8d8/d8d8', 11: 'rgb:0000/0000/0000', 12: 'rgb:d8d8/d8d8/d8d8' } as const;
const PALETTE_SIZE = 256;
const BASE_16 = [
  0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000,
  0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
];
const CUBE_STEPS = [0x00, 0x5f, 0x87, 0xaf, 0xd7, 0xff];
/** X11 color syntax. Names are left out: what they look like is the terminal's to know. */
const COLOR = /^(?:#(?:[0-9a-f]{3}){1,4}|rgb:[0-9a-f]{1,4}(?:\/[0-9a-f]{1,4}){2})$/i;

type Special = keyof typeof DEFAULTS;

export class Colors {
  readonly #special = new Map<Special, string>();
  readonly #palette = new Map<number, string>();

  constructor(terminal: Terminal, answer: (text: string) => void) {
    const { parser } = terminal;
    parser.registerOscHandler(4, (data) => {
      const fields = data.split(';');
      for (let i = 0; i + 1 < fields.length; i += 2) {
        const index = paletteIndex(fields[i]);
        const color = fields[i + 1];
        if (index === null || color === undefined) continue;
        if (color === '?')
          answer(`\x1b]4;${index};${asRgb(this.#palette.get(index) ?? standard(index))}\x1b\\`);
        else if (COLOR.test(color)) this.#palette.set(index, color);
      }
      return true;
    });
    parser.registerOscHandler(104, (data) => {
      if (data === '') this.#palette.clear();
      for (const field of data.split(';')) {
        const index = paletteIndex(field);
        if (index !== null) this.#palette.delete(index);
      }
      return true;
    });
    for (const first of [10, 11, 12] as const) {
      parser.registerOscHandler(first, (data) => {
        // One sequence may go on to the next colors: `10;foreground;background`.
        data.split(';').forEach((color, i) => {
          const which = first + i;
          if (which !== 10 && which !== 11 && which !== 12) return;
          if (color === '?')
            answer(`\x1b]${which};${asRgb(this.#special.get(which) ?? DEFAULTS[which])}\x1b\\`);
          else if (COLOR.test(color)) this.#special.set(which, color);
        });
        return true;
      });
      parser.registerOscHandler(first + 100, () => {
        this.#special.delete(first);
        return true;
      });
    }
  }

  reset(): void {
    this.#special.clear();
    this.#palette.clear();
  }

  /** Sets the colors on a terminal that has its defaults. */
  restore(): string {
    let out = '';
    for (const [which, color] of sorted(this.#special)) out += `\x1b]${which};${color}\x1b\\`;
    for (const [index, color] of sorted(this.#palette)) out += `\x1b]4;${index};${color}\x1b\\`;
    return out;
  }
}

function paletteIndex(field: string | undefined): number | null {
  if (field === undefined || !/^\d{1,3}$/.test(field)) return null;
  const index = Number(field);
  return index < PALETTE_SIZE ? index : null;
}

/** The usual 256 colors. */
function standard(index: number): string {
  const base = BASE_16[index];
  if (base !== undefined) return `#${base.toString(16).padStart(6, '0')}`;
  const channels =
    index < 232
      ? [Math.floor((index - 16) / 36), Math.floor((index - 16) / 6) % 6, (index - 16) % 6].map(
          (step) => CUBE_STEPS[step] ?? 0,
        )
      : [0, 0, 0].map(() => 8 + 10 * (index - 232));
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

/** As terminals report it: 16 bits per channel. */
function asRgb(color: string): string {
  const channels = color.startsWith('#')
    ? (color.slice(1).match(new RegExp(`.{${(color.length - 1) / 3}}`, 'g')) ?? [])
    : color.slice('rgb:'.length).split('/');
  return `rgb:${channels.map((channel) => channel.toLowerCase().repeat(4).slice(0, 4)).join('/')}`;
}

function sorted<Key extends number>(colors: ReadonlyMap<Key, string>): [Key, string][] {
  return [...colors].sort(([left], [right]) => left - right);
}
