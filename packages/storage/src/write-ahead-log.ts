// SQLite takes a write-ahead log with a damaged header for an empty one and forgets, without a word, every transaction in it.
// So the header is checked before SQLite looks. Damage further inside is SQLite's normal crash case, and its business.
// Layout: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
import { closeSync, openSync, readSync } from 'node:fs';

const HEADER_BYTES = 32;
/** The lowest bit tells the byte order of the checksums. */
const MAGIC = 0x377f0682;

/** False when the file holds something that no SQLite has written as the beginning of a log. */
export function isLogPlausible(path: string): boolean {
  const header = Buffer.alloc(HEADER_BYTES);
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch {
    return true; // No log: everything is in the database.
  }
  try {
    const length = readSync(descriptor, header, 0, HEADER_BYTES, 0);
    if (length === 0) return true;
    if (length < HEADER_BYTES) return false;
  } finally {
    closeSync(descriptor);
  }
  const magic = header.readUInt32BE(0);
  if ((magic & ~1) !== MAGIC) return false;
  const word = (at: number) => ((magic & 1) === 1 ? header.readUInt32BE(at) : header.readUInt32LE(at));
  let [first, second] = [0, 0];
  for (let at = 0; at < 24; at += 8) {
    first = (first + word(at) + second) >>> 0;
    second = (second + word(at + 4) + first) >>> 0;
  }
  return first === header.readUInt32BE(24) && second === header.readUInt32BE(28);
}
