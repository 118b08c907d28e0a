/**
 * The newest bytes of an endless stream, addressed by absolute offset. Memory grows with what was written, by doubling,
 * up to the capacity: an idle session costs next to nothing. Old bytes fall out; a reader sees that by `floor`.
 */
const OUTPUT_RING_BYTES = 512 * 1024;
const FIRST_BYTES = 4 * 1024;

export class OutputRing {
  readonly capacity: number;
  #store: Buffer = Buffer.alloc(0);
  #end = 0;
  #floor = 0;

  constructor(capacity: number = OUTPUT_RING_BYTES) {
    this.capacity = capacity;
  }

  /** Offset of the oldest byte still held. */
  get floor(): number {
    return this.#floor;
  }

  /** Offset after the newest byte. */
  get end(): number {
    return this.#end;
  }

  append(bytes: Uint8Array): void {
    const kept = bytes.length > this.capacity ? bytes.subarray(bytes.length - this.capacity) : bytes;
    this.#grow(this.#end - this.#floor + kept.length);
    const size = this.#store.length;
    const start = this.#end + (bytes.length - kept.length);
    const at = start % size;
    const first = Math.min(kept.length, size - at);
    this.#store.set(kept.subarray(0, first), at);
    if (first < kept.length) this.#store.set(kept.subarray(first), 0);
    this.#end = start + kept.length;
    this.#floor = Math.max(this.#floor, this.#end - size);
  }

  /** At most `max` bytes from `offset` on, in one piece: a view where it can be, valid until the next `append`. */
  view(offset: number, max: number): Buffer {
    const from = Math.max(offset, this.#floor);
    const count = Math.max(0, Math.min(max, this.#end - from));
    if (count === 0) return this.#store.subarray(0, 0);
    const at = from % this.#store.length;
    if (at + count <= this.#store.length) return this.#store.subarray(at, at + count);
    const joined = Buffer.allocUnsafe(count);
    this.copyTo(joined, 0, from, count);
    return joined;
  }

  /** Copies `count` held bytes from `offset` on into `target` at `targetStart`. */
  copyTo(target: Uint8Array, targetStart: number, offset: number, count: number): void {
    const at = offset % this.#store.length;
    const first = Math.min(count, this.#store.length - at);
    target.set(this.#store.subarray(at, at + first), targetStart);
    if (first < count) target.set(this.#store.subarray(0, count - first), targetStart + first);
  }

  #grow(wanted: number): void {
    if (wanted <= this.#store.length || this.#store.length === this.capacity) return;
    let size = Math.max(FIRST_BYTES, this.#store.length);
    while (size < wanted && size < this.capacity) size *= 2;
    const larger = Buffer.allocUnsafeSlow(Math.min(size, this.capacity));
    const held = this.view(this.#floor, this.#end - this.#floor);
    for (let offset = this.#floor, done = 0; done < held.length;) {
      const at = offset % larger.length;
      const piece = held.subarray(done, done + larger.length - at);
      larger.set(piece, at);
      done += piece.length;
      offset += piece.length;
    }
    this.#store = larger;
  }
}
