/**
 * Keystrokes that wait for a program to read, in order. They are kept in pieces of one size however they came, so that a
 * million single keys cost what their bytes cost.
 */
const PIECE_BYTES = 4_096;

export class TypedKeys {
  readonly kind = 'keys';
  readonly #pieces: { readonly store: Buffer; used: number }[] = [];
  /** Bytes of the first piece that are written. */
  #offset = 0;
  #length = 0;

  /** Bytes that are not written. */
  get length(): number {
    return this.#length;
  }

  add(bytes: Uint8Array): void {
    this.#length += bytes.length;
    for (let at = 0; at < bytes.length;) {
      let piece = this.#pieces.at(-1);
      if (piece === undefined || piece.used === PIECE_BYTES) {
        piece = { store: Buffer.allocUnsafe(PIECE_BYTES), used: 0 };
        this.#pieces.push(piece);
      }
      const count = Math.min(bytes.length - at, PIECE_BYTES - piece.used);
      piece.store.set(bytes.subarray(at, at + count), piece.used);
      piece.used += count;
      at += count;
    }
  }

  /** What to write next; empty when nothing is left. */
  next(): Buffer {
    const piece = this.#pieces[0];
    return piece === undefined ? Buffer.alloc(0) : piece.store.subarray(this.#offset, piece.used);
  }

  /** `count` bytes of `next` are written. */
  advance(count: number): void {
    this.#length -= count;
    this.#offset += count;
    if (this.#offset === this.#pieces[0]?.used) {
      this.#pieces.shift();
      this.#offset = 0;
    }
  }
}
