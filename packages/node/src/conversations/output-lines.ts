// Cuts a stream of bytes into lines, in bounded memory.

const NEWLINE = 0x0a;

export class OutputLines {
  readonly #bytesMax: number;
  readonly #tooLong: () => void;
  readonly #tail: Buffer[] = [];
  #tailBytes = 0;
  #skips = false;
  /** Bytes of the line that is left out. */
  #skipped = 0;

  /** `tooLong`: told once for each line of more than `bytesMax`, which is left out. */
  constructor(bytesMax: number, tooLong: () => void) {
    this.#bytesMax = bytesMax;
    this.#tooLong = tooLong;
  }

  /** Bytes of the line that has begun and is not over. */
  get pendingBytes(): number {
    return this.#tailBytes + this.#skipped;
  }

  /** The lines that are whole now, without their ends. */
  take(bytes: Buffer): string[] {
    const lines: string[] = [];
    let at = 0;
    for (let newline = bytes.indexOf(NEWLINE); newline >= 0; newline = bytes.indexOf(NEWLINE, at)) {
      this.#add(bytes.subarray(at, newline));
      at = newline + 1;
      const line = this.end();
      if (line !== null) lines.push(line);
    }
    this.#add(bytes.subarray(at));
    return lines;
  }

  /** Nothing follows: the line that has begun is over. null: there is none. */
  end(): string | null {
    const line = this.#skips ? null : Buffer.concat(this.#tail, this.#tailBytes).toString('utf8');
    this.#skips = false;
    this.#drop();
    return line;
  }

  /** Bytes are missing here: the line that has begun is no line any more. */
  breakOff(): void {
    this.#drop();
    this.#skips = true;
  }

  #add(piece: Buffer): void {
    if (this.#skips) {
      this.#skipped += piece.length;
      return;
    }
    if (piece.length === 0) return;
    if (this.#tailBytes + piece.length > this.#bytesMax) {
      const begun = this.#tailBytes + piece.length;
      this.breakOff();
      this.#skipped = begun;
      this.#tooLong();
      return;
    }
    this.#tail.push(piece);
    this.#tailBytes += piece.length;
  }

  #drop(): void {
    this.#tail.length = 0;
    this.#tailBytes = 0;
    this.#skipped = 0;
  }
}
