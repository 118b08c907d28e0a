/**
 * Finds our own commands among what is typed: the detach key and then a letter. Whatever is not such a command comes out
 * byte for byte as it came in, in order; how the bytes are cut into chunks changes nothing. Pasted text (bracketed paste) is
 * never read as a command.
 *
 * Terminals report keys in three ways, and the program in the session chooses which: a control byte, `CSI 92;5u` (kitty
 * keyboard protocol, with alternates, lock modifiers and press/release on top), `CSI 27;5;92~` (modifyOtherKeys).
 */
import type { DetachKey } from './detach-key-name.ts';

export type KeyAction = { readonly kind: 'send'; readonly bytes: Uint8Array } | { readonly kind: Command };

type Command = 'take-over' | 'ask' | 'hand-over' | 'redraw' | 'detach';

const COMMANDS: Readonly<Record<string, Command>> = {
  d: 'detach',
  t: 'take-over',
  a: 'ask',
  h: 'hand-over',
  r: 'redraw',
};

const ESCAPE = 0x1b;
const BRACKET = 0x5b;
/** Longest sequence that can be one of ours; whatever is longer goes through. */
const SEQUENCE_BYTES_MAX = 48;
const PASTE_END = Buffer.from('\x1b[201~');
const CONTROL_MODIFIER = 4;
const LOCK_MODIFIERS = 64 | 128;
const RELEASE = 3;
/** Code points of modifier keys pressed alone. */
const FIRST_MODIFIER_KEY = 57_441;
const LAST_MODIFIER_KEY = 57_454;

type Key =
  | { readonly kind: 'prefix' }
  | { readonly kind: 'command'; readonly action: Command }
  /** A release, or a modifier alone: says nothing about what is wanted. */
  | { readonly kind: 'accompanying' }
  | { readonly kind: 'paste-start' }
  | { readonly kind: 'other' };

export class DetachKeys {
  readonly #key: DetachKey;
  #state: 'typing' | 'after-prefix' | 'pasting' = 'typing';
  /** The prefix and what accompanied it, as long as it is open whether they are for us. */
  #held: number[] = [];
  /** A beginning of a sequence; the first `#passed` bytes of it went out already. */
  #sequence: number[] = [];
  #passed = 0;
  #pasteEndMatched = 0;
  #actions: KeyAction[] = [];
  #out: number[] = [];

  constructor(key: DetachKey) {
    this.#key = key;
  }

  /** Whether bytes are held back that a further byte would decide about: call `flush` when none comes soon. */
  get undecided(): boolean {
    return this.#sequence.length > this.#passed;
  }

  push(chunk: Uint8Array): KeyAction[] {
    if (this.#state === 'typing' && this.#sequence.length === 0 && !this.#isInteresting(chunk)) {
      return chunk.length === 0 ? [] : [{ kind: 'send', bytes: chunk }];
    }
    for (const byte of chunk) this.#take(byte);
    return this.#finish();
  }

  /** No more bytes came: a lone Escape was the Escape key. The prefix itself goes on waiting for its letter. */
  flush(): KeyAction[] {
    if (!this.undecided) return [];
    const unsent = this.#sequence.slice(this.#passed);
    if (this.#sequence.length > 2) {
      // No hand types this far into a sequence: it is cut, and its end may still matter.
      this.#passed = this.#sequence.length;
      this.#pass(unsent);
    } else {
      this.#sequence = [];
      this.#passed = 0;
      this.#handle({ kind: 'other' }, unsent);
    }
    return this.#finish();
  }

  #isInteresting(chunk: Uint8Array): boolean {
    return chunk.includes(this.#key.byte) || chunk.includes(ESCAPE);
  }

  #take(byte: number): void {
    if (this.#state === 'pasting') {
      this.#out.push(byte);
      this.#matchPasteEnd(byte);
      return;
    }
    if (this.#sequence.length === 0) {
      if (byte === ESCAPE) this.#sequence = [byte];
      else this.#handle(this.#readByte(byte), [byte]);
      return;
    }
    const isSecond = this.#sequence.length === 1;
    const goesOn = isSecond ? byte === BRACKET : byte >= 0x30 && byte <= 0x3f;
    if (goesOn && this.#sequence.length < SEQUENCE_BYTES_MAX) {
      this.#sequence.push(byte);
      return;
    }
    const ends = !isSecond && byte >= 0x40 && byte <= 0x7e;
    const sequence = this.#sequence;
    const passed = this.#passed;
    this.#sequence = [];
    this.#passed = 0;
    if (ends) {
      const whole = [...sequence, byte];
      const key = readSequence(String.fromCharCode(...whole.slice(2)), this.#key);
      // Half of it is with the program already: too late to be a command.
      const decided = passed > 0 && key.kind !== 'paste-start' ? { kind: 'other' as const } : key;
      this.#handle(decided, whole.slice(passed));
      return;
    }
    // Not a sequence of ours: what was held goes through, and this byte is looked at afresh.
    this.#handle({ kind: 'other' }, sequence.slice(passed));
    this.#take(byte);
  }

  #readByte(byte: number): Key {
    if (byte === this.#key.byte) return { kind: 'prefix' };
    return commandOf(byte);
  }

  #handle(key: Key, bytes: readonly number[]): void {
    if (this.#state === 'typing') {
      if (key.kind === 'prefix') {
        this.#state = 'after-prefix';
        this.#held = [...bytes];
        return;
      }
      this.#out.push(...bytes);
      if (key.kind === 'paste-start') this.#beginPaste();
      return;
    }
    switch (key.kind) {
      case 'accompanying':
        this.#held.push(...bytes);
        return;
      case 'command':
        this.#held = [];
        this.#state = 'typing';
        this.#emitOut();
        this.#actions.push({ kind: key.action });
        return;
      case 'prefix':
        // Twice: meant for the program, once.
        this.#held = [];
        this.#state = 'typing';
        this.#out.push(...bytes);
        return;
      case 'paste-start':
        this.#pass(bytes);
        this.#beginPaste();
        return;
      case 'other':
        this.#pass(bytes);
    }
  }

  /** To the program, with whatever was held before it. */
  #pass(bytes: readonly number[]): void {
    this.#out.push(...this.#held, ...bytes);
    this.#held = [];
    this.#state = 'typing';
  }

  #beginPaste(): void {
    this.#state = 'pasting';
    this.#pasteEndMatched = 0;
  }

  #matchPasteEnd(byte: number): void {
    if (byte === PASTE_END[this.#pasteEndMatched]) this.#pasteEndMatched++;
    // The mark's first byte occurs nowhere else in it: a mismatch can only begin a new match.
    else this.#pasteEndMatched = byte === ESCAPE ? 1 : 0;
    if (this.#pasteEndMatched === PASTE_END.length) this.#state = 'typing';
  }

  #emitOut(): void {
    if (this.#out.length === 0) return;
    this.#actions.push({ kind: 'send', bytes: Uint8Array.from(this.#out) });
    this.#out = [];
  }

  #finish(): KeyAction[] {
    this.#emitOut();
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }
}

function commandOf(codePoint: number): Key {
  const action = COMMANDS[String.fromCodePoint(codePoint)];
  return action === undefined ? { kind: 'other' } : { kind: 'command', action };
}

/** Reads what follows `CSI`. */
function readSequence(text: string, prefix: DetachKey): Key {
  if (text === '200~') return { kind: 'paste-start' };
  const kitty = /^(\d{1,7})(?::\d*)*(?:;(\d*)(?::(\d+))?(?:;[\d:]*)?)?u$/.exec(text);
  const otherKeys = /^27;(\d+);(\d{1,7})~$/.exec(text);
  if (kitty === null && otherKeys === null) return { kind: 'other' };
  const codePoint = Number(kitty?.[1] ?? otherKeys?.[2]);
  const modifierField = kitty?.[2] ?? otherKeys?.[1] ?? '';
  const modifiers = (modifierField === '' ? 0 : Number(modifierField) - 1) & ~LOCK_MODIFIERS;
  const event = Number(kitty?.[3] ?? '1');
  const isModifierAlone = codePoint >= FIRST_MODIFIER_KEY && codePoint <= LAST_MODIFIER_KEY;
  if (event === RELEASE || isModifierAlone) return { kind: 'accompanying' };
  if (codePoint === prefix.codePoint && modifiers === CONTROL_MODIFIER) return { kind: 'prefix' };
  return modifiers === 0 && codePoint < 128 ? commandOf(codePoint) : { kind: 'other' };
}
