/**
 * Turns the emulator's packed attributes into one SGR sequence that sets all of them, whatever was set before. Never a
 * difference between two states: SGR 22 ends bold and dim together, so differences cannot be exact.
 */
import { type Attributes, HAS_EXTENDED } from './emulator-internals.ts';

const COLOR = 0x3ff_ffff;
const COLOR_MODE = 0x300_0000;
const PALETTE_16 = 0x100_0000;
const PALETTE_256 = 0x200_0000;
const UNDERLINE = 0x1000_0000;
/** SGR 59 leaves all color bits set instead of none. */
const UNDERLINE_COLOR_ENDED = 0x3ff_ffff;

const FLAGS: readonly (readonly [field: 'fg' | 'bg', bit: number, code: number])[] = [
  ['fg', 0x800_0000, 1],
  ['bg', 0x800_0000, 2],
  ['bg', 0x400_0000, 3],
  ['fg', 0x2000_0000, 5],
  ['fg', 0x400_0000, 7],
  ['fg', 0x4000_0000, 8],
  ['fg', 0x8000_0000, 9],
  ['bg', 0x4000_0000, 53],
];

export interface Pen {
  readonly sgr: string;
  /** Number of the hyperlink, 0 for none. */
  readonly link: number;
  /** Packed background: what an erase leaves behind. */
  readonly background: number;
}

export const PLAIN_PEN: Pen = { sgr: '\x1b[m', link: 0, background: 0 };

export function penOf(attributes: Attributes): Pen {
  const { fg, bg, extended } = attributes;
  const link = (bg & HAS_EXTENDED) !== 0 ? extended.urlId : 0;
  const codes: (number | string)[] = [];
  for (const [field, bit, code] of FLAGS) {
    if ((attributes[field] & bit) !== 0) codes.push(code);
  }
  if ((fg & UNDERLINE) !== 0) codes.push(...underline(attributes, link));
  codes.push(...color(fg, 30, 90, 38), ...color(bg, 40, 100, 48));
  return {
    sgr: codes.length === 0 ? PLAIN_PEN.sgr : `\x1b[0;${codes.join(';')}m`,
    link,
    background: bg & COLOR,
  };
}

/** Of what is printed next only: sets the color that an underline would have if it came later. */
export function laterUnderlineColor(attributes: Attributes): string {
  const code = underlineColorCode(attributes.extended.underlineColor);
  return code === null ? '' : `\x1b[${code}m`;
}

/** The pen that erases to the background of `attributes`. */
export function erasePenOf(attributes: Attributes): Pen {
  const background = attributes.bg & COLOR;
  if (background === 0) return PLAIN_PEN;
  return { sgr: `\x1b[0;${color(background, 40, 100, 48).join(';')}m`, link: 0, background };
}

function underline(attributes: Attributes, link: number): string[] {
  // The emulator reports a dashed line for every link: the program's own style is not known there.
  if (link !== 0 || (attributes.bg & HAS_EXTENDED) === 0) return ['4'];
  const { underlineStyle, underlineColor } = attributes.extended;
  const codes = [underlineStyle > 1 ? `4:${underlineStyle}` : '4'];
  const colorCode = underlineColorCode(underlineColor);
  if (colorCode !== null) codes.push(colorCode);
  return codes;
}

function underlineColorCode(packed: number): string | null {
  if ((packed & COLOR_MODE) === 0 || (packed & COLOR) === UNDERLINE_COLOR_ENDED) return null;
  return (packed & COLOR_MODE) === COLOR_MODE ? `58:2::${rgb(packed).join(':')}` : `58:5:${packed & 0xff}`;
}

function color(packed: number, normal: number, bright: number, extended: number): number[] {
  const index = packed & 0xff;
  switch (packed & COLOR_MODE) {
    case 0:
      return [];
    case PALETTE_16:
      return [index < 8 ? normal + index : bright + (index & 7)];
    case PALETTE_256:
      return [extended, 5, index];
    default:
      return [extended, 2, ...rgb(packed)];
  }
}

function rgb(packed: number): [number, number, number] {
  return [(packed >>> 16) & 0xff, (packed >>> 8) & 0xff, packed & 0xff];
}
