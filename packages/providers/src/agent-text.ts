/**
 * Text of a provider as it goes into an event: without control characters, well-formed, and cut on the border of a character to
 * what the event takes. Nothing here trusts the length of what it is given.
 */
import { AGENT_NAME_BYTES_MAX, AGENT_SENTENCE_BYTES_MAX, AGENT_TEXT_BYTES_MAX } from '@roost/protocol';

/** Stands at the end of a text of which something is missing. */
const CUT_MARK = '…';
const CUT_MARK_BYTES = 3;

const encoder = new TextEncoder();

/** Colours, cursor movements, titles: what a tool's output carries for a terminal. */
const TERMINAL_SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;
/** A lone return is how a progress line is drawn anew. */
const LONE_RETURN = /\r(?!\n)/g;
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

export function cleanText(text: string): string {
  const printable = text.includes('\x1b') ? text.replace(TERMINAL_SEQUENCE, '') : text;
  return printable.replace(LONE_RETURN, '\n').replace(CONTROL, '').toWellFormed();
}

/** At most so many bytes in UTF-8; never half a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

/** Clean, and at most so many bytes; a mark at the end tells that something is missing. */
export function boundText(text: string, maxBytes: number): string {
  // A unit of UTF-16 is at least one byte: more of it than this cannot matter, but for what cleaning takes away.
  const clean = cleanText(text.length > 4 * maxBytes ? text.slice(0, 4 * maxBytes) : text);
  const whole = cutToBytes(clean, maxBytes);
  if (whole.length === clean.length) return clean;
  return cutToBytes(clean, maxBytes - CUT_MARK_BYTES) + CUT_MARK;
}

export const eventText = (text: string): string => boundText(text, AGENT_TEXT_BYTES_MAX);

export const eventSentence = (text: string): string => boundText(text, AGENT_SENTENCE_BYTES_MAX).trim();

/** null: there is nothing to call it by. */
export function eventName(text: string | null | undefined, maxBytes = AGENT_NAME_BYTES_MAX): string | null {
  if (text === null || text === undefined) return null;
  const name = cutToBytes(
    cleanText(text.slice(0, 4 * maxBytes))
      .replaceAll('\n', ' ')
      .trim(),
    maxBytes,
  );
  return name === '' ? null : name;
}

/** The text in pieces that fit one event each: for what continues and must not lose its middle. */
export function eventPieces(text: string): string[] {
  const pieces: string[] = [];
  for (let rest = cleanText(text); rest !== '';) {
    const piece = cutToBytes(rest, AGENT_TEXT_BYTES_MAX);
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return pieces;
}

/** JSON as text, for the input of a tool. */
export function eventJson(value: unknown): string {
  return eventText(typeof value === 'string' ? value : JSON.stringify(value ?? null));
}

export function byteLength(text: string): number {
  return encoder.encode(text).length;
}
