// What of a list fits into one answer: an answer is one frame, and a frame that is too large would never arrive, however often it is
// asked for.
import { NODE_FRAME_BYTES_MAX } from '@roost/protocol';

/** Bytes of a frame for what is not listed here: its envelope, ids, profiles, providers. */
const RESERVED_BYTES = 1024 * 1024;

interface Known {
  readonly text: string;
  readonly bytes: number;
}

/** Of values that are replaced and never changed: a snapshot asks for the same ones again and again. */
const known = new WeakMap<object, Known>();

/** The JSON of a value for which there was room once. */
export function knownText(value: object): string | undefined {
  return known.get(value)?.text;
}

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
  let facts = known.get(value);
  if (facts === undefined) {
    const text = JSON.stringify(value);
    facts = { text, bytes: Buffer.byteLength(text) + 1 };
    known.set(value, facts);
  }
  return facts.bytes;
}
