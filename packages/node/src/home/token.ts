// The token of the node: made at the first start, never changed by us, readable by its owner alone. Its text is in no log and in
// no failure.
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { FailureError } from '@roost/protocol';
import { makeOperatorToken, parseToken, roleOf, type Token } from '@roost/protocol/node';
import { systemErrorCode } from '@roost/storage';

/** Bytes that are read; a token has 79 characters. */
const TOKEN_FILE_BYTES_MAX = 256;
const OTHERS_MASK = 0o077;

/** @throws FailureError: home-unusable, storage-full. */
export function nodeToken(path: string): Token {
  const kept = readToken(path);
  if (kept !== null) return kept;
  makeTokenFile(path);
  const made = readToken(path);
  if (made === null) throw unusable(path, 'the token was not kept');
  return made;
}

/** null when there is none. */
function readToken(path: string): Token | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT') return null;
    throw unusable(path, 'the token cannot be read', cause);
  }
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) throw unusable(path, 'the token is not a file');
    if (process.getuid !== undefined && facts.uid !== process.getuid())
      throw unusable(path, 'the token belongs to another user');
    if ((facts.mode & OTHERS_MASK) !== 0)
      throw unusable(path, 'others can read the token; remove it, and a new one is made');
    const bytes = Buffer.alloc(TOKEN_FILE_BYTES_MAX);
    const token = parseToken(bytes.toString('latin1', 0, readSync(file, bytes)));
    if (token === null || roleOf(token) !== 'operator') throw unusable(path, 'there is no token in it');
    return token;
  } finally {
    closeSync(file);
  }
}

/** Whole or not at all: a crash in between leaves no half token. */
function makeTokenFile(path: string): void {
  const partial = `${path}.${process.pid}`;
  try {
    rmSync(partial, { force: true });
    const file = openSync(partial, 'wx', 0o600);
    try {
      writeSync(file, `${makeOperatorToken()}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    linkSync(partial, path);
  } catch (cause) {
    const code = systemErrorCode(cause);
    if (code === 'ENOSPC' || code === 'EDQUOT') throw new FailureError('storage-full', { path }, { cause });
    if (code !== 'EEXIST') throw unusable(path, 'the token cannot be made', cause);
  } finally {
    rmSync(partial, { force: true });
  }
}

function unusable(path: string, reason: string, cause?: unknown): FailureError {
  return new FailureError('home-unusable', { path, reason }, { cause });
}
