// The log of a program: JSON lines in a file. A log that cannot be written never stops what it tells of. What people type, values of
// environment variables, headers, bodies and queries of requests are never logged; the redaction paths are the second line of defence.
import { chmodSync, closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { pino, type Logger } from 'pino';

export type Log = Logger;

/** Bytes after which the log of earlier starts is put aside, at the next start. One old file is kept. */
const ROTATE_BYTES = 10 * 1024 * 1024;
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
/** Not `code`: it says what went wrong. */
const REDACTED = ['authorization', 'cookie', 'environment', 'secret', 'text', 'ticket', 'token'].flatMap(
  (name) => [name, `*.${name}`, `*.*.${name}`],
);

export function openLog(path: string, level: string | undefined): Log {
  rotate(path);
  const descriptor = openSync(path, 'a', 0o600);
  chmodSync(path, 0o600);
  return pino(
    {
      level: level !== undefined && LEVELS.includes(level) ? level : 'info',
      base: { pid: process.pid },
      redact: { paths: REDACTED, censor: '[redacted]' },
    },
    {
      write: (line: string) => {
        try {
          writeSync(descriptor, line);
        } catch {
          // A full disk must not end the program; the next line tries again.
        }
      },
      end: () => closeSync(descriptor),
    } as { write(line: string): void },
  );
}

function rotate(path: string): void {
  try {
    if (statSync(path).size > ROTATE_BYTES) renameSync(path, `${path}.1`);
  } catch {
    // No log yet.
  }
}
