// Text to flood a terminal with. Blocks are made once and repeated, so that the terminal is the bottleneck.

export type FloodKind = 'plain' | 'colour' | 'cursor';

const BLOCK_BYTES = 64 * 1024;

const LINES: Record<FloodKind, (row: number) => string> = {
  plain: (row) => `${String(row).padStart(6, '0')} the quick brown fox jumps over the lazy dog 0123456789\n`,
  colour: (row) =>
    `\x1b[38;5;${row % 256}m${String(row).padStart(6, '0')}\x1b[0m \x1b[1;48;2;${row % 256};80;${(row * 7) % 256}mcolour\x1b[0m \x1b[3mtext\x1b[23m\n`,
  cursor: (row) =>
    `\x1b[${(row % 24) + 1};${((row * 7) % 60) + 1}H\x1b[K\x1b[7m${String(row % 1000)}\x1b[27m cell\x1b[A\x1b[2C*\x1b[B`,
};

/** Exactly `bytes` bytes in all, all of them ASCII (a terminal adds a carriage return to each line), in blocks of about 64 KiB that end at a line's end but for the last. */
export function* floodBlocks(bytes: number, kind: FloodKind): Generator<Buffer> {
  let block = '';
  for (let row = 0; block.length < BLOCK_BYTES; row++) block += LINES[kind](row);
  const buffer = Buffer.from(block, 'latin1');
  for (let left = bytes; left > 0; left -= buffer.length)
    yield left >= buffer.length ? buffer : buffer.subarray(0, left);
}
