/** The key that begins a command of ours while everything else goes to the session. */
import { UsageError } from '../usage-error.ts';

export interface DetachKey {
  /** As people write it: `ctrl-\`. */
  readonly label: string;
  /** What a terminal sends for it by default. */
  readonly byte: number;
  /** Code point of the unmodified key, as terminals with richer keyboard reports name it. */
  readonly codePoint: number;
}

const DEFAULT_DETACH_KEY = 'ctrl-\\';

/** Enter, Tab and Escape are control keys, too, and nobody could type them any more. */
const TAKEN = new Set(['m', 'i', '[']);

export function parseDetachKey(text: string | undefined): DetachKey {
  const label = text === undefined || text === '' ? DEFAULT_DETACH_KEY : text.toLowerCase();
  const key = /^(?:ctrl-|c-|\^)(.)$/.exec(label)?.[1];
  if (key === undefined || !/^[a-z\\\]^_]$/.test(key) || TAKEN.has(key)) {
    throw new UsageError(`detach key '${text ?? ''}' is not ctrl- and one of a-z (but i, m), \\, ], ^, _`);
  }
  return { label: `ctrl-${key}`, byte: key.toUpperCase().charCodeAt(0) & 0x1f, codePoint: key.charCodeAt(0) };
}
