/**
 * Text for a program's input, made safe to type. Nothing here does I/O.
 * Source of the rules: prompt neutralisation and control keys as agent terminals are driven today; Enter comes as its
 * own write, later, because line editors take a near one as part of the paste.
 */
export const PASTE_START = '\x1b[200~';
export const PASTE_END = '\x1b[201~';
/** Milliseconds between text and Enter (protocol bound SUBMIT_DELAY_MS). */
const SUBMIT_DELAY_MS = 500;
/** Bytes of one text after neutralisation (protocol bound INPUT_BYTES_MAX). */
const INPUT_BYTES_MAX = 16 * 1024 * 1024;

export interface InputWrite {
  readonly bytes: Buffer;
  readonly delayBeforeMs: number;
}

export type PreparedInput =
  | { readonly kind: 'ready'; readonly writes: readonly InputWrite[] }
  | { readonly kind: 'refused'; readonly code: 'input-refused'; readonly details: Record<string, unknown> }
  | { readonly kind: 'refused'; readonly code: 'invalid-request'; readonly details: Record<string, unknown> };

export interface InputRequest {
  readonly text: string;
  readonly framing: 'literal' | 'paste' | 'raw';
  readonly submit: boolean;
}

/** What the receiving program is like now. */
export interface InputTarget {
  readonly transport: 'pty' | 'pipe';
  readonly bracketedPaste: boolean;
}

export function prepareInput(request: InputRequest, target: InputTarget): PreparedInput {
  const text = body(request, target);
  if (typeof text !== 'string') return { kind: 'refused', code: 'input-refused', details: text };
  const bytes = Buffer.from(text);
  if (bytes.length > INPUT_BYTES_MAX + PASTE_START.length + PASTE_END.length)
    return {
      kind: 'refused',
      code: 'invalid-request',
      details: { bytes: bytes.length, limit: INPUT_BYTES_MAX },
    };
  const writes: InputWrite[] = bytes.length === 0 ? [] : [{ bytes, delayBeforeMs: 0 }];
  if (request.submit) {
    const immediate = target.transport === 'pipe' || writes.length === 0;
    writes.push({
      bytes: Buffer.from(target.transport === 'pipe' ? '\n' : '\r'),
      delayBeforeMs: immediate ? 0 : SUBMIT_DELAY_MS,
    });
  }
  return { kind: 'ready', writes };
}

function body(request: InputRequest, target: InputTarget): string | Record<string, unknown> {
  if (request.framing === 'raw' || target.transport === 'pipe') return request.text;
  if (request.framing === 'literal') {
    const found = /[\u0000-\u001f\u007f-\u009f]/u.exec(request.text);
    if (found === null) return request.text;
    const codePoint = found[0].codePointAt(0) ?? 0;
    return { index: Buffer.byteLength(request.text.slice(0, found.index)), codePoint };
  }
  const safe = neutralise(request.text);
  // As terminals do: brackets only for a program that asked for them; to others a line break is Enter.
  return target.bracketedPaste ? PASTE_START + safe + PASTE_END : safe.replace(/\r?\n/g, '\r');
}

/**
 * Replaces every control character but line feed, carriage return and tab by visible text, so that no text can end its
 * paste early or press a key: ESC -> `<ESC>`, U+009B -> `<CSI>`, U+009D -> `<OSC>`, others -> `<U+XXXX>`.
 */
export function neutralise(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/gu, (character) => {
    const codePoint = character.codePointAt(0) ?? 0;
    if (codePoint === 0x1b) return '<ESC>';
    if (codePoint === 0x9b) return '<CSI>';
    if (codePoint === 0x9d) return '<OSC>';
    return `<U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}
