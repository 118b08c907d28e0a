/** Requests of a node, read from untrusted JSON field by field: what comes out is typed, what does not fit throws. */
import { fieldsOf, flag, integer, oneOf, text, textMap, texts, type Fields } from './fields.ts';
import type { ChildLaunch, PipeStream } from './wire.ts';

const ID_LENGTH_MAX = 64;
const CLIENT_NAME_LENGTH_MAX = 256;
const PATH_LENGTH_MAX = 32_768;
const ARGUMENTS_MAX = 1_025;
const ARGUMENT_LENGTH_MAX = 131_072;
const ENVIRONMENT_MAX = 4_096;
const NOTE_LENGTH_MAX = 64 * 1024;
const CELLS_MAX = 1_000;
const SCROLLBACK_MAX = 100_000;
const INPUT_LENGTH_MAX = 16 * 1024 * 1024;
const GRACE_MS_MAX = 600_000;
const OFFSET_MAX = Number.MAX_SAFE_INTEGER;

export const sessionIdOf = (fields: Fields): string => text(fields, 'sessionId', ID_LENGTH_MAX);

export function sizeOf(fields: Fields): { columns: number; rows: number } {
  return { columns: integer(fields, 'columns', 1, CELLS_MAX), rows: integer(fields, 'rows', 1, CELLS_MAX) };
}

export function launchOf(fields: Fields): ChildLaunch {
  return {
    sessionId: sessionIdOf(fields),
    transport: oneOf(fields, 'transport', ['pty', 'pipe']),
    file: text(fields, 'file', PATH_LENGTH_MAX),
    argv: texts(fields, 'argv', ARGUMENTS_MAX, ARGUMENT_LENGTH_MAX),
    directory: text(fields, 'directory', PATH_LENGTH_MAX),
    environment: textMap(fields, 'environment', ENVIRONMENT_MAX, ARGUMENT_LENGTH_MAX),
    size: sizeOf(fieldsOf(fields.size, 'size')),
    scrollbackLines: integer(fields, 'scrollbackLines', 0, SCROLLBACK_MAX),
    note: text(fields, 'note', NOTE_LENGTH_MAX),
  };
}

export function inputOf(fields: Fields): {
  text: string;
  framing: 'literal' | 'paste' | 'raw';
  submit: boolean;
} {
  return {
    text: text(fields, 'text', INPUT_LENGTH_MAX),
    framing: oneOf(fields, 'framing', ['literal', 'paste', 'raw']),
    submit: flag(fields, 'submit'),
  };
}

export const graceOf = (fields: Fields): number => integer(fields, 'graceMs', 0, GRACE_MS_MAX);
export const revisionOf = (fields: Fields): number => integer(fields, 'after', -1, Number.MAX_SAFE_INTEGER);
export const scrollbackOf = (fields: Fields): number => integer(fields, 'scrollback', 0, SCROLLBACK_MAX);
/** null from a node that does not tell. */
export const clientNameOf = (fields: Fields): string | null =>
  fields.clientName === undefined ? null : text(fields, 'clientName', CLIENT_NAME_LENGTH_MAX);
export const modeOf = (fields: Fields): 'drive' | 'watch' => oneOf(fields, 'mode', ['drive', 'watch']);

export function offsetsOf(fields: Fields): Record<PipeStream, number> {
  const offsets = fieldsOf(fields.offsets, 'offsets');
  return {
    stdout: integer(offsets, 'stdout', 0, OFFSET_MAX),
    stderr: integer(offsets, 'stderr', 0, OFFSET_MAX),
  };
}

export function acknowledgementOf(fields: Fields): { stream: PipeStream; offset: number } {
  return {
    stream: oneOf(fields, 'stream', ['stdout', 'stderr']),
    offset: integer(fields, 'offset', 0, OFFSET_MAX),
  };
}
