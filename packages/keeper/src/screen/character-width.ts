/**
 * How many columns a character takes, as today's terminals have it. The emulator's own table is of Unicode 6 and gives
 * emoji one column, after which everything on the line stands one column off.
 *
 * Ranges from the Unicode Character Database 14 (zero: Mn, Me, Cf, vowel and final Jamo; two: East Asian Width W and F),
 * with the emoji that were added up to version 16.
 */
import type { Terminal } from '@xterm/headless';

const VERSION = '16';
const TABLE_END = 0x40000;

/** Ranges in base 36, each as distance from the end of the one before, and length less one. */
const ZERO_WIDTH = [
  'lc-33 7o-6 7c-18 2 2-1 2-1 2 1l-5 b-a 2 1b-k h 2u-7 2-5 3-1 2-3 y 2 v-q 2k-a 1n-8 a p-3 2-8 2-2',
  '2-4 18-2 1h-1 7-7 17-1k 1k 2 5-7 5 4-6 b-1 u 1n 5-3 9 l-1 r 3-1 1m 5-1 5-1 3-2 4 v-1 4 c-1 1m 5-4',
  '2-1 5 l-1 n-5 2 1n 3 2-3 9 8-1 c-1 v 1q d 1f 4 1k 2-2 6-2 2-3 8-1 c-1 u 1n 3 7 6-1 l-1 t-1 1m-1',
  '5-3 9 l-1 u 21 8-2 2 2j 3-6 d-7 2r 3-8 c-5 23-1 s 2 2 1k-d 2-4 2-1 6-a 2-z a 2v-3 2-5 2-1 3-1 q-1',
  '5-2 h-3 e 3-1 7 g 5f-4f 9q-2 qb-2 u-1 v-1 v-1 1t-1 2-6 9 3-a a 1a-4 3a-1 z 3b-2 5-1 a 7-2 64-1 3',
  '1n 2-6 2 2 3-7 7-9 3 1d-u 1e-3 1d 2-4 2 6 15-8 d-1 x-3 3-1 2-2 1l 2-1 4 2-2 1n-7 3-1 49-2 2-c 2-6',
  '5 7 4-1 5j-1r ek-4 r-4 1e-4 2-9 2p-w 2db-2 3y 2p-v ff-3 30-1 n9x-3 2-9 x-1 29-1 7l 4 5 q-1 6 48-1',
  'r-h e 13-7 q-a 1b-2 1d 3-3 3-1 14 1w-5 3-1 3-1 d 9 1c 1g 2-2 3-1 6-1 2 17-1 9 6n 3 5 fn5 ki-f h-f',
  '5s 6y-2 ea 6b 46-4 1af-2 2-1 6-3 15-2 5 4m-1 fy-3 as-1 4a-a 1e-3 3g 1j-e 16 3-1 b-2 1e-3 3-1 3 5 b',
  '1f-2 11-4 2-7 1r d-1 1h-8 b-3 3 2o-2 3 2-1 7 4h 4-7 m-1 1m-1 4 12-6 4-4 5g-7 3-2 2 o 2d-5 2 5-1',
  '2-1 6n-3 7-1 2-1 s-1 2e-7 3 2-1 2z 2 3-5 2 2u-2 3-3 2-4 78-8 2-1 75-1 2 5 41-3 3-1 5 x-9 15-5 3-3',
  '9 a-5 3-2 1b-c 2-1 bb-6 2-5 2 2b-l 3-6 2-1 2-1 3f-5 4 2-1 2-6 2 21-1 4 2 9o-1 470-8 at4-4 1o-6 t5',
  '1s-3 2a f5l-1 2-3 3ml-19 3-m f5-2 a-f 3-6 v-3 45-2 1j0-1i 5-1d 9 f n-4 2-e 11t-6 2-g 3-6 2-1 2-4',
  '7a-6 ag 1q-3 15t-6 32-6',
].join(' ');
const WIDE = [
  '3cw-2n 6i 5-1 8 2 5-1 16 5-1 y 5-1 8 2 5-1 g 1m 5-1 1w-1 x-2 r-5 2f-1 7-1 im-2 2i-6 n-8 p-8 l-b e',
  '4 3-b 2n-1 b-5 b-5 r-5 2i-6 18-4 1z-9 w d-3 d-3 2-2 17-1 6-a 19-3 r-5 c-2 1r-1 1u u-1 c-5 b-5 f-1',
  'w-1c 26-2 1c 39-7 1p-2 g-2 1p-6 18-1 c-7 18-4 ev-1 7-1 13-1 7-1 9 2 2 2 w-1 1i g f-1 7 k-1 4 a 2u',
  'd-1 s e-2 y-e y-e 3x-3 az-1 e-1 5b-3 4 3 1g-o c-k bi-1 m-1 1f-b 18 k e 9-1 i-1 6-1 9 6 m 8-1 2 5 3',
  '8 5-1 t 10 2 5-2 2 1q-2 p f nw-1 1g 5 v-1 x 9q-4 1a 2-4 2-1 1l-6 3-d p-8 8 8 8 8 8 8 8 8 3j-cr 5-g',
  '2-2g 3-bw 9-5f3 1t-h5b 9p-j 55-7 5o-4 3 2 6-n 1o-2 b-5 1l-7 1z-7 d-5 39-a 2-v 27 c-3 y 1k-8 f-1',
  'b-1 2w-n t-9 7-1 7-1 7-8 8 8 1p-3 3j-1 b-8mt o-3 1e-3 6ip-e7 8-b 6-4 r 6 2 3 3 3i-f ce-1 1j-6 2-v',
  'x-f h-1r 6 3s-1 2-2o 2n-2 7-1 7-1 7-1 4-a 8-9 6-1 d r k 3 g-1 f-x 3g-4 4-3 1a-2 2h e-2 2-1a 1b-3l',
  'u-2 1e-e t-3 11-8 v-4 18-4 v 12-3 f-15 4f-1 b-5 11-3 11-3 15-7 1h-a d g 8 3 c g 8 3-1u 8o-8 n-9',
  '9-n 7 17 a-1w 7-1 2 19 3-2 2-1 o 21-7 a-1b k 3-4 y-2 s-4 2-1r 1l-3 l-1 1f 3-4 9 4 u-1 4-3 b-6 a-6',
  '1t-v 14-3 d-8 1j-2 u-1 s-4 r-6 5-b 8-27 22-1i 1g-c 1g-6 1b-7 b-85 w 17 4-1 3-25 15-7 17-l r-11 t-j',
  'o-8 27-3 11-8 1x-9 2-1 q-6 b-5 1i j-7 14-8 2p l-a j 19-1s 8 2 5 g c-5 1o-4 b-5 5 9-1 3-1 n 8 3 6',
  'b-1 3-1 4-1 2-5 2-4 8-1 8-2 6-3u 2l 6-t 21-7 b-4l 1j-1 13-x 1y-a b-5 e-i 1n-5 b-1h s-1 g-3 o-54',
  '1p-2r 2c-b 9-1 2-1 9 3 v 3-1 d-8 b-1x 9-1 1b-1 c-q 21-7 2c-c 22-7a a 1a f-9 u-2 x-1 n f-20 8 3',
  '19-2 2 3 a-7 b-5 7 3 12 3 7-6 b-8l q-52 2-e 1f-c po-2t 34 6-a 5h-217 2s-c ts a-346 g8-6ns fu-6 w',
  'b-3 2a b-5 v-1 7-9 1z-9 b 8 m-4 k-j3 2k-2s 24-3 1m-6 i-1v 2-f16 30-4 e-2 a-6 b-1 9-3mj 1b-1 o-8',
  '39-1n 6v-9 14-1 5f-k 1z-49 l-b 2g-8 q-3q 2e 20 3-1 2-1 3-1 5 d 2 8 1u 5-1 9 8 t 5 6 2-2 8 9h-1',
  '85-1 jj-e 6 g-un w-68 8 i-1 8 3 6-5w 1a-2 f-1 b-3 3-8v w-g 1n-4 2-yn 8 5 3 g 5i-1 h-14 25-3 b-3',
  '3-ls 1x-23 1q-5d 5 s 3 2-1 2 b 5 2 2-5 2-3 2 2 2 4 3 2-1 2 2 2 2 2 3 2-1 5 8 5 5 2 b i-4 4 6 i-1f',
  '3-7h 5 14-3 2t-b g-1 g f-1 12-9 3z 3-9 k-1j r-80 d-8 2-1x 2-l d-16 5-4 d-g 4 4-1y 2 2-56 3-1q e-3',
  '2-n j r-1 e 2f-2c 1d-1x 7 4-2 3-a c-4 5-b 39-b 2i-12 d-3 1l-7 b-5 15-7 v-1 3-25 d-1a 2-9 2-54 2d-b',
  'f-41 44 1k-10 b-2txf',
].join(' ');

type Properties = number;

/** One table for all screens. */
let widths: Uint8Array | null = null;

export function useCurrentWidths(terminal: Terminal): void {
  const table = (widths ??= buildTable());
  const wcwidth = (character: number): 0 | 1 | 2 => widthIn(table, character);
  terminal.unicode.register({
    version: VERSION,
    wcwidth,
    charProperties: (character: number, preceding: Properties): Properties => {
      const width = character < 0x7f && character > 0x1f ? 1 : wcwidth(character);
      if (width !== 0 || preceding === 0) return width << 1;
      // Joins the character before, which keeps its width.
      const before = (preceding >> 1) & 3;
      return before === 0 ? 0 : (before << 1) | 1;
    },
  });
  terminal.unicode.activeVersion = VERSION;
}

function widthIn(table: Uint8Array, character: number): 0 | 1 | 2 {
  if (character < 0x20) return 0;
  if (character < TABLE_END) return table[character] as 0 | 1 | 2;
  return character >= 0xe0000 && character <= 0xe0fff ? 0 : 1;
}

function buildTable(): Uint8Array {
  const table = new Uint8Array(TABLE_END).fill(1);
  for (const [ranges, width] of [
    [ZERO_WIDTH, 0],
    [WIDE, 2],
  ] as const) {
    let end = 0;
    for (const range of ranges.split(' ')) {
      const [distance = '', length = '0'] = range.split('-');
      const start = end + parseInt(distance, 36);
      end = start + parseInt(length, 36);
      table.fill(width, start, end + 1);
    }
  }
  return table;
}
