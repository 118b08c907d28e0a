/**
 * One output stream of a pipe child: kept from the first byte until the node has acknowledged it, in order, at absolute
 * offsets. At the cap the source is paused, so memory is bounded and nothing is lost; the program waits.
 */

/** Bytes kept per stream before reading pauses, and below which it goes on. */
const PIPE_KEPT_BYTES_MAX = 8 * 1024 * 1024;
const PIPE_RESUME_BYTES = 4 * 1024 * 1024;

export class PipeOutputBuffer {
  readonly #source: { pause(): void; resume(): void };
  readonly #cap: number;
  #chunks: Buffer[] = [];
  #floor = 0;
  #end = 0;
  #paused = false;

  constructor(source: { pause(): void; resume(): void }, cap: number = PIPE_KEPT_BYTES_MAX) {
    this.#source = source;
    this.#cap = cap;
  }

  /** First offset that is not acknowledged. */
  get floor(): number {
    return this.#floor;
  }

  get end(): number {
    return this.#end;
  }

  append(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#end += bytes.length;
    if (!this.#paused && this.#end - this.#floor >= this.#cap) {
      this.#paused = true;
      this.#source.pause();
    }
  }

  /** The kept bytes from `offset` on, in pieces as they came. */
  *from(offset: number): Generator<{ offset: number; bytes: Buffer }> {
    let at = this.#floor;
    for (const chunk of this.#chunks) {
      const skip = Math.max(0, offset - at);
      if (skip < chunk.length) yield { offset: at + skip, bytes: chunk.subarray(skip) };
      at += chunk.length;
    }
  }

  /** Drops what ends at or before `offset`. */
  acknowledge(offset: number): void {
    const to = Math.min(offset, this.#end);
    let dropped = 0;
    while (this.#floor < to) {
      const chunk = this.#chunks[dropped];
      if (chunk === undefined) break;
      if (this.#floor + chunk.length <= to) {
        this.#floor += chunk.length;
        dropped += 1;
      } else {
        this.#chunks[dropped] = chunk.subarray(to - this.#floor);
        this.#floor = to;
      }
    }
    this.#chunks.splice(0, dropped);
    if (this.#paused && this.#end - this.#floor <= Math.min(PIPE_RESUME_BYTES, this.#cap / 2)) {
      this.#paused = false;
      this.#source.resume();
    }
  }
}
