/** The part of the handshake that needs `node:crypto`: keys from tokens, proofs, and their comparison in constant time. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { proofTranscript, type Direction, type Role } from '../handshake.ts';

/**
 * `roost_operator_` or `roost_observer_` and 64 hexadecimal digits. The observer's token is made from the operator's: handing
 * it out gives a view and nothing more.
 */
export type Token = string & { readonly __brand: 'Token' };

const TOKEN = /^roost_(operator|observer)_([0-9a-f]{64})$/;

export function makeOperatorToken(): Token {
  return `roost_operator_${randomBytes(32).toString('hex')}` as Token;
}

/** null when the text is no token. */
export function parseToken(text: string): Token | null {
  const trimmed = text.trim();
  return TOKEN.test(trimmed) ? (trimmed as Token) : null;
}

export function observerToken(token: Token): Token {
  const { role, key } = parts(token);
  if (role === 'observer') return token;
  const derived = createHmac('sha256', key).update('roost-observer-token-v1').digest('hex');
  return `roost_observer_${derived}` as Token;
}

/** The role that a token can prove at most. */
export function roleOf(token: Token): Role {
  return parts(token).role;
}

export interface ProofInput {
  /** The operator's or the observer's token; an operator's proves both roles. */
  readonly token: Token;
  readonly role: Role;
  readonly direction: Direction;
  /** The hello frame, byte for byte as it was sent. */
  readonly hello: Uint8Array;
  /** The bytes of the challenge's `selection` text. */
  readonly selection: Uint8Array;
}

/** 64 hexadecimal digits. @throws Error when an observer's token is to prove an operator. */
export function makeProof({ token, role, direction, hello, selection }: ProofInput): string {
  if (role === 'operator' && roleOf(token) !== 'operator')
    throw new Error('an observer token proves no operator');
  const { key } = parts(role === 'observer' ? observerToken(token) : token);
  return createHmac('sha256', key)
    .update(proofTranscript(direction, hello, selection))
    .digest('hex');
}

/** Constant time for well-formed proofs; anything else is simply wrong. */
export function isProof(given: string, input: ProofInput): boolean {
  const expected = Buffer.from(makeProof(input), 'hex');
  const actual = Buffer.from(given, 'hex');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** 32 random bytes in hexadecimal. */
export function makeNonce(): string {
  return randomBytes(32).toString('hex');
}

function parts(token: Token): { role: Role; key: Buffer } {
  const match = TOKEN.exec(token);
  if (match === null) throw new Error('not a token');
  return { role: match[1] === 'operator' ? 'operator' : 'observer', key: Buffer.from(match[2] ?? '', 'hex') };
}
