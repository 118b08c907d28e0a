import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Hello, Selection, type Direction, type Role } from '../handshake.ts';
import { isProof, makeOperatorToken, makeProof, observerToken, parseToken, roleOf } from './proof.ts';

/** docs/protocol.md quotes these, for clients in other languages; they were computed by another implementation of HMAC. */
const TOKEN = parseToken('roost_operator_000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f')!;
const OBSERVER_TOKEN = 'roost_observer_81fc70729c5c4170facbef4464a29fb98c70979629c2c5b611553cd2b5e2d49d';
const hello = (role: Role) =>
  `{"kind":"hello","role":"${role}","nonce":"0303030303030303030303030303030303030303030303030303030303030303","protocol":{"min":2,"max":2},"capabilities":["event-journal-v1"],"client":{"name":"vector","version":"1"}}`;
const SELECTION =
  '{"protocol":2,"capabilities":["event-journal-v1"],"nonce":"0707070707070707070707070707070707070707070707070707070707070707","node":{"id":"00000000000000aa","incarnation":"00000000000000bb","version":"1.0.0"}}';
const VECTORS = [
  ['operator', 'node', '1626ea01bc58d710c57bfadabdd8a081d8bdad66ad21601784d29951e83247e7'],
  ['operator', 'client', '03a5a45b473205b60be44db26fe4152ae370c90a11e18085d04dbb72db0964b3'],
  ['observer', 'node', '1e130a1c36908f74e51a61349a9d216e9033e5e4efd715f4315ae907249e5608'],
  ['observer', 'client', '5d5f7a599b046544812d7af4fca37e1b956a7e4bac9c6ce9c0e8ee0ce18b3226'],
] as const;

const input = (role: Role, direction: Direction) => ({
  token: TOKEN,
  role,
  direction,
  hello: Buffer.from(hello(role)),
  selection: Buffer.from(SELECTION),
});

describe('the test vector', () => {
  test('is a hello and a selection of this protocol', () => {
    expect(Hello.parse(JSON.parse(hello('operator'))).client.name).toBe('vector');
    expect(Selection.parse(JSON.parse(SELECTION)).protocol).toBe(2);
  });

  test('is the one that the page for authors of clients quotes', () => {
    const page = readFileSync(new URL('../../../../docs/protocol.md', import.meta.url), 'utf8');
    const quoted = [
      TOKEN,
      OBSERVER_TOKEN,
      hello('operator'),
      SELECTION,
      ...VECTORS.map(([, , proof]) => proof),
    ];
    for (const text of quoted) expect(page).toContain(text);
  });

  test.each(VECTORS)('holds for an %s, in the direction of the %s', (role, direction, proof) => {
    expect(makeProof(input(role, direction))).toBe(proof);
    expect(isProof(proof, input(role, direction))).toBe(true);
  });

  test('holds for the token of an observer, which proves no operator', () => {
    const token = observerToken(TOKEN);
    expect(token).toBe(OBSERVER_TOKEN);
    expect(observerToken(token)).toBe(token);
    expect(makeProof({ ...input('observer', 'node'), token })).toBe(VECTORS[2][2]);
    expect(() => makeProof({ ...input('operator', 'node'), token })).toThrow('proves no operator');
  });
});

test('a proof holds for no other direction, role, token, hello or selection', () => {
  const given = input('operator', 'client');
  const proof = makeProof(given);
  for (const other of [
    { direction: 'node' as const },
    { role: 'observer' as const },
    { token: makeOperatorToken() },
    { hello: Buffer.from(`${hello('operator')} `) },
    { selection: Buffer.from(SELECTION.replace('"protocol":2', '"protocol":3')) },
  ])
    expect(isProof(proof, { ...given, ...other })).toBe(false);
});

test('no byte of hello can be taken for one of the selection', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 64 }),
      fc.nat(64),
      fc.nat(64),
      (bytes, one, other) => {
        const cut = (at: number) => ({
          hello: bytes.subarray(0, at % (bytes.length + 1)),
          selection: bytes.subarray(at % (bytes.length + 1)),
        });
        const [first, second] = [cut(one), cut(other)];
        const same = first.hello.length === second.hello.length;
        const proof = makeProof({ ...input('operator', 'node'), ...first });
        expect(isProof(proof, { ...input('operator', 'node'), ...second })).toBe(same);
      },
    ),
  );
});

test('what is no proof is wrong, and no exception', () => {
  for (const text of ['', 'zz', '00', '0'.repeat(63), '0'.repeat(128)])
    expect(isProof(text, input('operator', 'node'))).toBe(false);
});

test('a token is its exact text; blanks around it are no part of it', () => {
  expect(parseToken(` ${TOKEN}\n`)).toBe(TOKEN);
  expect(roleOf(makeOperatorToken())).toBe('operator');
  for (const text of ['', 'roost_admin_00', TOKEN.slice(0, -1), `${TOKEN}0`, TOKEN.toUpperCase()])
    expect(parseToken(text)).toBeNull();
});
