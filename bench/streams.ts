/**
 * The byte streams that sessions print. Both are the same on every run (fixed seed) and both are made of whole lines or
 * whole sequences, so that a stream may be printed several times in a row.
 */
import { closeSync, openSync, writeSync } from 'node:fs';

export const STREAM_COLUMNS = 80;
const BLOCK_BYTES = 1024 * 1024;

/** Numbered lines of 80 columns, `bytes` long to within a line. */
export function writePlainStream(path: string, bytes: number): void {
  const filler = 'the quick brown fox jumps over the lazy dog and runs through the quiet forest ';
  let line = 0;
  writeBlocks(path, bytes, () => {
    line += 1;
    return `${String(line).padStart(9, '0')} ${filler.slice(0, STREAM_COLUMNS - 10)}\n`;
  });
}

/**
 * What a terminal program with a user interface prints: true colour text, cursor addressing, erasing, scrolling inside a
 * region, wide characters. Fits in `columns` x `rows`.
 */
export function writeColourStream(path: string, bytes: number, columns: number, rows: number): void {
  const random = seededRandom(20_240_229);
  const upTo = (limit: number) => Math.floor(random() * limit);
  const colour = () => `${upTo(256)};${upTo(256)};${upTo(256)}`;
  const words = ['diff', '漢字', 'const', '🚀', 'return', 'かな', '│', 'await', '한글', '──', 'spawn', 'ok'];
  const span = () => `\x1b[38;2;${colour()}m${words[upTo(words.length)] ?? ''}`;
  writeBlocks(path, bytes, () => {
    switch (upTo(6)) {
      case 0: // a coloured line at some place
        return `\x1b[${1 + upTo(rows)};1H\x1b[2K${span()} ${span()} ${span()} ${span()}\x1b[0m`;
      case 1: // a status bar
        return `\x1b[${rows};1H\x1b[48;2;${colour()}m${span()} ${'='.repeat(upTo(columns - 40))}\x1b[K\x1b[0m`;
      case 2: // scrolling inside a region
        return `\x1b[3;${rows - 2}r\x1b[${rows - 2};1H\r\n${span()}${span()}\r\n${span()}\x1b[r`;
      case 3: // a spinner that redraws one cell
        return `\x1b[s\x1b[${1 + upTo(rows)};${1 + upTo(columns - 2)}H\x1b[1;3m*\x1b[22;23m\x1b[u`;
      case 4: // a field written over
        return `\x1b[${1 + upTo(rows)};${1 + upTo(columns - 40)}H\x1b[K${span()} ${upTo(1e6)}\x1b[1K\x1b[0m`;
      default: // running text with line ends
        return `${span()} ${span()}\x1b[0m plain words between ${span()}\x1b[4m${span()}\x1b[24m\x1b[0m\r\n`;
    }
  });
}

/** Brings any screen into a state in which what is printed next is the only thing to be seen. */
export const CLEAR_SCREEN = '\x1b[r\x1b[0m\x1b[2J\x1b[H';

function writeBlocks(path: string, bytes: number, next: () => string): void {
  const file = openSync(path, 'w', 0o600);
  try {
    let written = 0;
    while (written < bytes) {
      const pieces: string[] = [];
      for (let length = 0; length < Math.min(BLOCK_BYTES, bytes - written);) {
        const piece = next();
        pieces.push(piece);
        length += Buffer.byteLength(piece);
      }
      const block = Buffer.from(pieces.join(''));
      for (let at = 0; at < block.length;) at += writeSync(file, block, at);
      written += block.length;
    }
  } finally {
    closeSync(file);
  }
}

/** Mulberry32: small, fast and the same everywhere. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
