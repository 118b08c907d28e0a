// What of a list fits into one answer: an answer is one frame, and a frame that is too large would never arrive, however often it is
// asked for.
import { NODE_FRAME_BYTES_MAX } from '@roost/protocol';

/** Bytes of a frame for what is not listed here: its envelope, ids, profiles, providers. */
const RESERVED_BYTES = 1024 * 1024;

/** Of values that are replaced and never changed: a snapshot asks for the same ones again and again. */
const known = new WeakMap<object, number>();

export class AnswerRoom {
  #left = NODE_FRAME_BYTES_MAX - RESERVED_BYTES;

  /** Whether it still fits; then its bytes are taken. `value` must never change. */
  take(value: object): boolean {
    const bytes = bytesOf(value);
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

/** In a list: with the comma after it. */
function bytesOf(value: object): number {
  let bytes = known.get(value);
  if (bytes === undefined) {
    bytes = Buffer.byteLength(JSON.stringify(value)) + 1;
    known.set(value, bytes);
  }
  return bytes;
}
