/** Colours: only on a terminal, never against `NO_COLOR` (set to anything but nothing), never for `TERM=dumb`. */
export type Paint = (text: string) => string;

export interface Palette {
  readonly good: Paint;
  readonly bad: Paint;
  readonly warn: Paint;
  readonly faint: Paint;
  readonly strong: Paint;
}

const sgr =
  (on: number, off: number): Paint =>
  (text) =>
    `\x1b[${on}m${text}\x1b[${off}m`;
const plain: Paint = (text) => text;

const COLOURED: Palette = {
  good: sgr(32, 39),
  bad: sgr(31, 39),
  warn: sgr(33, 39),
  faint: sgr(2, 22),
  strong: sgr(1, 22),
};
const PLAIN: Palette = { good: plain, bad: plain, warn: plain, faint: plain, strong: plain };

export function paletteFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Palette {
  const noColor = env.NO_COLOR;
  const refused = (noColor !== undefined && noColor !== '') || env.TERM === 'dumb';
  return stream.isTTY === true && !refused ? COLOURED : PLAIN;
}
