// Turns the bytes of a raw terminal into tokens. Invariant: the tokens are the same however the bytes were cut into
// reads, and a pasted body comes out byte for byte.

export type QueryKind = 'da1' | 'dsr' | 'osc10' | 'osc11' | 'kitty';

export type Token =
  | { kind: 'text'; bytes: Buffer }
  | { kind: 'paste'; bytes: Buffer }
  | { kind: 'enter' }
  | { kind: 'newline' }
  | { kind: 'backspace' }
  | { kind: 'control'; byte: number }
  | { kind: 'escape' }
  | { kind: 'answer'; query: QueryKind; text: string }
  | { kind: 'focus'; focused: boolean }
  | { kind: 'sequence'; text: string };

const ESC = 0x1b;
const BEL = 0x07;
const PASTE_START = '\x1b[200~';
const PASTE_END = Buffer.from('\x1b[201~');
/** Longer than any sequence that a terminal sends; beyond it the bytes are taken as they are. */
const SEQUENCE_LIMIT = 4096;

const ANSWERS: readonly (readonly [QueryKind, RegExp])[] = [
  ['da1', /^\x1b\[\?[0-9;]*c$/],
  ['dsr', /^\x1b\[[0-9]+;[0-9]+R$/],
  ['kitty', /^\x1b\[\?[0-9]+u$/],
  ['osc10', /^\x1b\]10;rgb/],
  ['osc11', /^\x1b\]11;rgb/],
];

export class InputParser {
  #rest: Buffer = Buffer.alloc(0);
  #paste: Buffer[] | undefined;

  /** True when a lone ESC waits for the byte that tells the key from the start of a sequence. */
  get holdsEscape(): boolean {
    return this.#paste === undefined && this.#rest.length === 1 && this.#rest[0] === ESC;
  }

  push(chunk: Buffer): Token[] {
    const tokens: Token[] = [];
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = Buffer.alloc(0);
    while (bytes.length > 0) {
      const used =
        this.#paste === undefined
          ? this.#takeOne(bytes, tokens)
          : this.#takePaste(bytes, this.#paste, tokens);
      if (used === 0) {
        this.#rest = Buffer.from(bytes);
        break;
      }
      bytes = bytes.subarray(used);
    }
    return tokens;
  }

  /** Called when nothing followed a lone ESC for a while: it was the key. */
  flushEscape(): Token[] {
    if (!this.holdsEscape) return [];
    this.#rest = Buffer.alloc(0);
    return [{ kind: 'escape' }];
  }

  #takePaste(bytes: Buffer, body: Buffer[], tokens: Token[]): number {
    const end = bytes.indexOf(PASTE_END);
    if (end >= 0) {
      body.push(Buffer.from(bytes.subarray(0, end)));
      tokens.push({ kind: 'paste', bytes: Buffer.concat(body) });
      this.#paste = undefined;
      return end + PASTE_END.length;
    }
    // The end marker may be cut: hold back what could be its beginning.
    const sure = bytes.length - heldBack(bytes);
    if (sure > 0) body.push(Buffer.from(bytes.subarray(0, sure)));
    return sure;
  }

  #takeOne(bytes: Buffer, tokens: Token[]): number {
    const first = bytes[0] ?? 0;
    if (first === ESC) return this.#takeSequence(bytes, tokens);
    if (first === 0x0d) tokens.push({ kind: 'enter' });
    else if (first === 0x0a) tokens.push({ kind: 'newline' });
    else if (first === 0x7f || first === 0x08) tokens.push({ kind: 'backspace' });
    else if (first < 0x20 && first !== 0x09) tokens.push({ kind: 'control', byte: first });
    else {
      let end = 1;
      while (end < bytes.length && isText(bytes[end] ?? 0)) end++;
      tokens.push({ kind: 'text', bytes: Buffer.from(bytes.subarray(0, end)) });
      return end;
    }
    return 1;
  }

  #takeSequence(bytes: Buffer, tokens: Token[]): number {
    const length = sequenceLength(bytes);
    if (length === undefined) {
      if (bytes.length <= SEQUENCE_LIMIT) return 0;
      tokens.push({ kind: 'escape' });
      return 1;
    }
    const text = bytes.toString('latin1', 0, length);
    if (text === PASTE_START) this.#paste = [];
    else tokens.push(tokenOf(text));
    return length;
  }
}

const isText = (byte: number): boolean => byte === 0x09 || (byte >= 0x20 && byte !== 0x7f);

function heldBack(bytes: Buffer): number {
  for (let length = Math.min(PASTE_END.length - 1, bytes.length); length > 0; length--) {
    if (bytes.subarray(bytes.length - length).equals(PASTE_END.subarray(0, length))) return length;
  }
  return 0;
}

/** Undefined while the sequence is not complete. */
function sequenceLength(bytes: Buffer): number | undefined {
  const second = bytes[1];
  if (second === undefined) return undefined;
  if (second === 0x5b) {
    for (let at = 2; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (byte >= 0x40 && byte <= 0x7e) return at + 1;
      if (byte < 0x20) return at;
    }
    return undefined;
  }
  if (second === 0x5d || second === 0x50 || second === 0x5f) {
    for (let at = 2; at < bytes.length; at++) {
      if (bytes[at] === BEL) return at + 1;
      if (bytes[at] === ESC && at + 1 < bytes.length) return bytes[at + 1] === 0x5c ? at + 2 : at;
    }
    return undefined;
  }
  if (second === 0x4f) return bytes.length < 3 ? undefined : 3;
  return second === ESC ? 1 : 2;
}

function tokenOf(text: string): Token {
  if (text === '\x1b') return { kind: 'escape' };
  if (text === '\x1b[I' || text === '\x1b[O') return { kind: 'focus', focused: text.endsWith('I') };
  // Keys as the kitty protocol reports them.
  if (text === '\x1b[13u') return { kind: 'enter' };
  if (text === '\x1b[13;2u' || text === '\x1b\r') return { kind: 'newline' };
  if (text === '\x1b[27u') return { kind: 'escape' };
  if (text === '\x1b[99;5u') return { kind: 'control', byte: 0x03 };
  const answer = ANSWERS.find(([, pattern]) => pattern.test(text));
  return answer === undefined ? { kind: 'sequence', text } : { kind: 'answer', query: answer[0], text };
}
