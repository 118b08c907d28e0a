/** The token that proves this side to a node: given, or read from its file. It is never sent, and never part of a failure. */
import { closeSync, openSync, readSync } from 'node:fs';
import { FailureError, type Role } from '@roost/protocol';
import { observerToken, parseToken, roleOf, type Token } from '@roost/protocol/node';
import { nodeTokenPath } from './home.ts';
import { systemCode } from './open-socket.ts';

/** Bytes that are read of a token file; a token has 79 characters. */
const TOKEN_FILE_BYTES_MAX = 256;

/** @throws FailureError home-unusable, naming the file; unauthorized when the token cannot prove that role. */
export function readToken(source: { readonly token: string } | { readonly path: string }, role: Role): Token {
  const token = 'token' in source ? parseToken(source.token) : readTokenFile(source.path);
  if (token === null) {
    const place = 'path' in source ? { path: source.path } : {};
    throw new FailureError('home-unusable', { ...place, reason: 'not a token' });
  }
  if (role === 'operator' && roleOf(token) !== 'operator') throw new FailureError('unauthorized', { role });
  return token;
}

/** The token that gives exactly this role at the node of this state directory, for handing it out. */
export function nodeToken(home: string, role: Role): string {
  const token = readToken({ path: nodeTokenPath(home) }, role);
  return role === 'observer' ? observerToken(token) : token;
}

function readTokenFile(path: string): Token | null {
  const bytes = Buffer.alloc(TOKEN_FILE_BYTES_MAX);
  try {
    const file = openSync(path, 'r');
    try {
      return parseToken(bytes.toString('latin1', 0, readSync(file, bytes)));
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw new FailureError('home-unusable', { path, reason: systemCode(cause) ?? 'unreadable' }, { cause });
  }
}
