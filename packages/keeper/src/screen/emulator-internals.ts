/**
 * The only place that reaches behind the public interface of @xterm/headless. Everything used is checked when a screen is
 * made, so a version that moved it fails at once and by name; the test beside this file pins the version we know.
 *
 * Why: the public `write` defers to a timer (a millisecond or more per chunk, and a screen that is never known to be
 * right at a byte offset), and attributes under the cursor, scroll regions, saved cursors and tab stops have no getter.
 */
import type { Terminal } from '@xterm/headless';

/** Bit of the packed background: underline style, underline color and link are to be looked for in `extended`. */
export const HAS_EXTENDED = 0x1000_0000;

/** Attributes as the emulator packs them: of a cell, or of what is printed next. */
export interface Attributes {
  readonly fg: number;
  readonly bg: number;
  readonly extended: ExtendedAttributes;
}

interface ExtendedAttributes {
  readonly underlineStyle: number;
  readonly underlineColor: number;
  readonly urlId: number;
}

export interface EmulatorBuffer {
  readonly x: number;
  readonly y: number;
  readonly ybase: number;
  readonly scrollTop: number;
  readonly scrollBottom: number;
  readonly savedX: number;
  savedY: number;
  readonly savedCurAttrData: Attributes & { bg: number };
  readonly tabs: Readonly<Record<string, boolean | undefined>>;
}

/** Parameters of a control sequence before they are copied: writing here changes what the emulator does. */
export interface LiveParameters {
  readonly params: Int32Array;
  readonly length: number;
}

interface Core {
  readonly buffers: { readonly normal: EmulatorBuffer; readonly alt: EmulatorBuffer };
  readonly _charsetService: { readonly glevel: number };
  registerCsiHandler(id: SequenceId, handler: (parameters: LiveParameters) => boolean): unknown;
}

interface InputHandler {
  parse(data: Uint8Array): unknown;
  eraseInDisplay(parameters: { readonly params: readonly number[]; readonly length: number }): boolean;
  getAttrData(): Attributes & { extended: LinkableAttributes; updateExtended(): void };
}

interface LinkableAttributes extends ExtendedAttributes {
  urlId: number;
  clone(): LinkableAttributes;
  isEmpty(): boolean;
}

export interface SequenceId {
  readonly prefix?: string;
  readonly intermediates?: string;
  readonly final: string;
}

export class EmulatorInternals {
  readonly #core: Core;
  readonly #input: InputHandler;

  constructor(terminal: Terminal) {
    const core = member(terminal, '_core');
    const input = member(core, '_inputHandler');
    for (const name of ['parse', 'eraseInDisplay', 'getAttrData']) requireFunction(input, name);
    requireFunction(core, 'registerCsiHandler');
    requireNumber(member(core, '_charsetService'), 'glevel');
    for (const name of ['normal', 'alt']) {
      const buffer = member(member(core, 'buffers'), name);
      for (const field of ['x', 'y', 'ybase', 'scrollTop', 'scrollBottom', 'savedX', 'savedY']) {
        requireNumber(buffer, field);
      }
      requireAttributes(member(buffer, 'savedCurAttrData'));
      member(buffer, 'tabs');
    }
    this.#core = core as Core;
    this.#input = input as InputHandler;
    const attributes = this.#input.getAttrData();
    requireAttributes(attributes);
    requireFunction(attributes, 'updateExtended');
    for (const name of ['clone', 'isEmpty']) requireFunction(attributes.extended, name);
    requireAttributes(terminal.buffer.normal.getNullCell());
  }

  /** Parses at once: when it returns, the screen shows every byte. */
  parse(bytes: Uint8Array): void {
    if (this.#input.parse(bytes) !== undefined) {
      throw new Error('@xterm/headless: a parser hook became asynchronous');
    }
  }

  get normal(): EmulatorBuffer {
    return this.#core.buffers.normal;
  }

  get alternate(): EmulatorBuffer {
    return this.#core.buffers.alt;
  }

  /** Which of the four character sets is in use (SI, SO). */
  get shift(): number {
    return this.#core._charsetService.glevel;
  }

  /** What the next printed character will look like. */
  get attributes(): Attributes {
    return this.#input.getAttrData();
  }

  /** Number of the hyperlink given to what is printed next; 0 is none. */
  setLink(id: number): void {
    const attributes = this.#input.getAttrData();
    // Cells share the object: the emulator treats it as immutable, and so must we.
    attributes.extended = attributes.extended.clone();
    attributes.extended.urlId = id;
    attributes.updateExtended();
  }

  /**
   * Corrects what restoring the cursor does in this emulator: it saves a line of the history, which scrolls away, where
   * terminals save a row of the screen; and it restores the mark that there is a link without the link.
   */
  prepareRestore(buffer: EmulatorBuffer, row: number): void {
    buffer.savedY = buffer.ybase + row;
    const { savedCurAttrData: saved } = buffer;
    const isLinked = !this.#input.getAttrData().extended.isEmpty();
    saved.bg = isLinked ? saved.bg | HAS_EXTENDED : saved.bg & ~HAS_EXTENDED;
  }

  eraseWholeDisplay(): void {
    this.#input.eraseInDisplay({ params: [2], length: 1 });
  }

  /** Calls `handler` before the emulator acts; true stops the emulator from acting. */
  onControlSequence(id: SequenceId, handler: (parameters: LiveParameters) => boolean): void {
    this.#core.registerCsiHandler(id, handler);
  }
}

/** The attributes of a cell that the public interface gave. */
export function attributesOf(cell: object): Attributes {
  return cell as Attributes;
}

function member(owner: unknown, name: string): object {
  const value: unknown = isObject(owner) ? Reflect.get(owner, name) : undefined;
  if (!isObject(value)) throw moved(name);
  return value;
}

function requireFunction(owner: object, name: string): void {
  if (typeof Reflect.get(owner, name) !== 'function') throw moved(name);
}

function requireNumber(owner: object, name: string): void {
  if (typeof Reflect.get(owner, name) !== 'number') throw moved(name);
}

function requireAttributes(value: object): void {
  requireNumber(value, 'fg');
  requireNumber(value, 'bg');
  const extended = member(value, 'extended');
  for (const field of ['underlineStyle', 'underlineColor', 'urlId']) requireNumber(extended, field);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function moved(name: string): Error {
  return new Error(`@xterm/headless: internal "${name}" is not where version 6.0 has it`);
}
