/**
 * Takes the answers of an attached terminal out of its keystrokes. The program's questions reach that terminal too, but
 * the screen has already answered them, and a second answer would be read as typing.
 *
 * Keys are never removed and, but for the start of a sequence that may become an answer, never held: a lone ESC at the end
 * of a chunk is the Escape key and leaves at once (when it was the start of a split answer, only the rest of that answer
 * can still be removed). The caller gives held bytes up with `flushPending` when nothing follows soon.
 */
const ESC = 0x1b;
const PASTE_START = '200~';
const PASTE_END = Buffer.from('\x1b[201~');
/** A longer control sequence is no answer. */
const CONTROL_BYTES_MAX = 256;
/** A longer string is let through: clipboards (OSC 52) are the longest answers. */
const STRING_BYTES_MAX = 1024 * 1024;
const NOTHING = new Uint8Array(0);

/** Whether the answer to a cursor query may be on its way. */
export interface CursorQueries {
  readonly cursorQueried: boolean;
}

/** A sequence at the start of some bytes: how long it is, and what becomes of it. */
interface Token {
  readonly length: number;
  readonly kind: 'key' | 'answer' | 'paste' | 'unfinished';
}

export class ReplyFilter {
  readonly #queries: CursorQueries;
  /** The unfinished sequence. */
  #held: Uint8Array = NOTHING;
  /** How much of the beginning of `#held` has left already: 1 for a lone ESC. */
  #sent = 0;
  #pasting = false;
  /** While pasting: the last bytes that left, in which the end mark may have begun. */
  #pasted: Uint8Array = NOTHING;

  constructor(queries: CursorQueries) {
    this.#queries = queries;
  }

  /** True while the start of a sequence waits for its rest. */
  get holds(): boolean {
    return this.#held.length > this.#sent;
  }

  /** Gives back what of `bytes`, and of what was held before, is for the program. */
  filter(bytes: Uint8Array): Uint8Array {
    if (this.#held.length === 0 && !this.#pasting && !bytes.includes(ESC)) return bytes;
    const all = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    const kept: Uint8Array[] = [];
    /** Start of what is to be kept next. */
    let from = this.#sent;
    let at = 0;
    this.#held = NOTHING;
    this.#sent = 0;
    while (at < all.length) {
      if (this.#pasting) {
        at = this.#pasteEnd(all, at);
        continue;
      }
      const start = all.indexOf(ESC, at);
      if (start === -1) break;
      const token = this.#read(all.subarray(start));
      at = start + token.length;
      switch (token.kind) {
        case 'key':
          break;
        case 'paste':
          this.#pasting = true;
          this.#pasted = NOTHING;
          break;
        case 'answer':
          if (start > from) kept.push(all.subarray(from, start));
          from = at;
          break;
        case 'unfinished':
          this.#held = new Uint8Array(all.subarray(start));
          // Earlier bytes of a held sequence may have left already, when it began the chunk.
          this.#sent = Math.min(Math.max(from - start, 0), 1);
          if (this.#held.length === 1) this.#sent = 1;
          if (start + this.#sent > from) kept.push(all.subarray(from, start + this.#sent));
          from = all.length;
      }
    }
    if (from < all.length) kept.push(all.subarray(from));
    return kept.length === 1 ? (kept[0] ?? NOTHING) : Buffer.concat(kept);
  }

  /** Gives back what was held: it was typed after all. */
  flushPending(): Uint8Array {
    const held = this.#held.subarray(this.#sent);
    this.#held = NOTHING;
    this.#sent = 0;
    return held;
  }

  /** Where the paste ends, or the end of the bytes. */
  #pasteEnd(all: Uint8Array, at: number): number {
    const before = this.#pasted.length;
    const content = before === 0 ? all.subarray(at) : Buffer.concat([this.#pasted, all.subarray(at)]);
    const end = Buffer.from(content.buffer, content.byteOffset, content.length).indexOf(PASTE_END);
    if (end === -1) {
      this.#pasted = new Uint8Array(content.subarray(-(PASTE_END.length - 1)));
      return all.length;
    }
    this.#pasting = false;
    this.#pasted = NOTHING;
    return at + end + PASTE_END.length - before;
  }

  #read(bytes: Uint8Array): Token {
    switch (bytes[1]) {
      case undefined:
        return { length: 1, kind: 'unfinished' };
      case 0x5b:
        return this.#readControl(bytes);
      case 0x50: // DCS
      case 0x5d: // OSC
      case 0x5f: // APC
        return readString(bytes);
      case ESC: // Alt with a key that is a sequence itself
        return { length: 1, kind: 'key' };
      default:
        return { length: 2, kind: 'key' };
    }
  }

  #readControl(bytes: Uint8Array): Token {
    // Mouse in its oldest form: three bytes of any value follow.
    if (bytes[2] === 0x4d) return bytes.length < 6 ? unfinished(bytes) : { length: 6, kind: 'key' };
    for (let at = 2; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (byte >= 0x20 && byte < 0x40 && at < CONTROL_BYTES_MAX) continue;
      if (byte < 0x40 || byte > 0x7e) return { length: at, kind: 'key' };
      const text = Buffer.from(bytes.buffer, bytes.byteOffset + 2, at - 1).toString('latin1');
      if (text === PASTE_START) return { length: at + 1, kind: 'paste' };
      return { length: at + 1, kind: this.#isAnswer(text) ? 'answer' : 'key' };
    }
    return unfinished(bytes);
  }

  /** `text` is what follows `CSI`. */
  #isAnswer(text: string): boolean {
    // Device attributes, private reports, keyboard flags, ...: no key has such a prefix (the mouse has `<`).
    if (/^[?>=]/.test(text)) return true;
    switch (text.at(-1)) {
      case 'R':
        // F3 with modifiers looks like a cursor in the first line.
        if (/^1;(?:[2-9]|1[0-6])R$/.test(text)) return this.#queries.cursorQueried;
        return /^\d+;\d+(?:;\d+)?R$/.test(text);
      case 'n': // status
      case 't': // window, and its size when it changes
      case 'x': // terminal parameters
        return /^[\d;:]+.$/.test(text);
      case 'y': // mode
        return text.endsWith('$y');
      default:
        return false;
    }
  }
}

function unfinished(bytes: Uint8Array): Token {
  return { length: bytes.length, kind: 'unfinished' };
}

/** No key is a string sequence: a complete one is an answer. */
function readString(bytes: Uint8Array): Token {
  const isOsc = bytes[1] === 0x5d;
  for (let at = 2; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x07 && isOsc) return { length: at + 1, kind: 'answer' };
    if (byte !== ESC) continue;
    const next = bytes[at + 1];
    if (next === undefined) break;
    // Another sequence interrupts it: what came before was typed (Alt+P, Alt+]).
    return next === 0x5c ? { length: at + 2, kind: 'answer' } : { length: at, kind: 'key' };
  }
  return bytes.length > STRING_BYTES_MAX ? { length: bytes.length, kind: 'key' } : unfinished(bytes);
}
