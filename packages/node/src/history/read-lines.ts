// The lines of an open file that are JSON objects, one piece of the file after the other.
import { isUtf8 } from 'node:buffer';
import { readObject, type JsonObject } from '@roost/providers';
import type { OpenFile } from './below.ts';

const PIECE_BYTES = 64 * 1024;
/** Bytes of one line: to make sense of a longer one would hold the event loop for too long. Pictures make such lines. */
export const LINE_BYTES_MAX = 1024 * 1024;

export interface LinesRead {
  /** Damaged, too long, no text, or half-written. */
  readonly skipped: number;
}

/**
 * From a position to the end that the file has now; what is added meanwhile is not read. The line in whose middle it begins is passed
 * over. @throws NotBelow.
 */
export async function readLines(
  file: OpenFile,
  from: number,
  see: (line: JsonObject) => void,
): Promise<LinesRead> {
  const lines = new Lines(see, from > 0);
  const end = file.state.size;
  for (let position = from; position < end;) {
    const piece = await file.bytes(position, Math.min(PIECE_BYTES, end - position));
    // It was cut off meanwhile.
    if (piece.length === 0) break;
    lines.push(piece);
    position += piece.length;
  }
  lines.end();
  return { skipped: lines.skipped };
}

class Lines {
  skipped = 0;
  readonly #see: (line: JsonObject) => void;
  /** Of a line whose end has not come yet. */
  #pieces: Buffer[] = [];
  #length = 0;
  #passesOver: boolean;

  constructor(see: (line: JsonObject) => void, isBegun: boolean) {
    this.#see = see;
    this.#passesOver = isBegun;
  }

  push(piece: Buffer): void {
    let begin = 0;
    for (let end = piece.indexOf(0x0a); end !== -1; end = piece.indexOf(0x0a, begin)) {
      this.#keep(piece.subarray(begin, end));
      this.#take();
      begin = end + 1;
    }
    this.#keep(piece.subarray(begin));
  }

  /** The last line may have no line end, or be half-written. */
  end(): void {
    if (this.#length > 0) this.#take();
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#passesOver || this.#length > LINE_BYTES_MAX) this.#pieces = [];
    else this.#pieces.push(part);
  }

  #take(): void {
    const line = Buffer.concat(this.#pieces);
    const [passesOver, length] = [this.#passesOver, this.#length];
    this.#pieces = [];
    this.#length = 0;
    this.#passesOver = false;
    if (passesOver || length === 0) return;
    const value = length > LINE_BYTES_MAX || !isUtf8(line) ? null : readObject(line.toString('utf8'));
    if (value === null) this.skipped += 1;
    else this.#see(value);
  }
}
