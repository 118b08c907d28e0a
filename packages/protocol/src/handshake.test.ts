import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HANDSHAKE_FRAME_BYTES_MAX } from './bounds.ts';
import { CAPABILITIES, OFFERED_CAPABILITIES, type Capability } from './capabilities.ts';
import {
  Authenticate,
  Challenge,
  Hello,
  negotiate,
  proofTranscript,
  Selection,
  selectionFault,
} from './handshake.ts';
import { isProof, makeNonce, makeOperatorToken, makeProof, observerToken, roleOf } from './node/proof.ts';
import { PROTOCOL_MAX, PROTOCOL_MIN } from './protocol-version.ts';

const hello: Hello = {
  kind: 'hello',
  role: 'operator',
  nonce: '1'.repeat(64),
  protocol: { min: PROTOCOL_MIN, max: PROTOCOL_MAX },
  capabilities: [...OFFERED_CAPABILITIES],
  client: { name: 'test', version: '0' },
};
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const token = makeOperatorToken();
const input = {
  token,
  role: 'operator',
  direction: 'client',
  hello: bytes(hello),
  selection: bytes({ protocol: 2 }),
} as const;

describe('a proof', () => {
  it('is broken by one changed byte of hello or selection, and by another direction, role or token', () => {
    const proof = makeProof(input);
    expect(isProof(proof, input)).toBe(true);
    fc.assert(
      fc.property(
        fc.constantFrom('hello', 'selection'),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (part, where, flip) => {
          const changed = Buffer.from(input[part]);
          const at = where % changed.length;
          changed[at] = (changed[at] ?? 0) ^ flip;
          expect(isProof(proof, { ...input, [part]: changed })).toBe(false);
        },
      ),
    );
    expect(isProof(proof, { ...input, direction: 'node' })).toBe(false);
    expect(isProof(proof, { ...input, role: 'observer' })).toBe(false);
    expect(isProof(proof, { ...input, token: makeOperatorToken() })).toBe(false);
    for (const wrong of ['', 'f', proof.slice(2), `${proof}00`, 'z'.repeat(64)])
      expect(isProof(wrong, input)).toBe(false);
  });

  it('covers where hello ends and selection begins', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), fc.uint8Array(), fc.uint8Array(), (a, b, c, d) => {
        const same = Buffer.compare(a, c) === 0 && Buffer.compare(b, d) === 0;
        const one = proofTranscript('node', a, b);
        expect(Buffer.compare(one, proofTranscript('node', c, d)) === 0).toBe(same);
        expect(Buffer.compare(one, proofTranscript('client', a, b))).not.toBe(0);
      }),
    );
  });

  it('of an observer is made with either token, of an operator with the operator’s alone', () => {
    const observer = observerToken(token);
    expect(roleOf(observer)).toBe('observer');
    const asObserver = { ...input, role: 'observer' } as const;
    expect(isProof(makeProof({ ...asObserver, token: observer }), asObserver)).toBe(true);
    expect(() => makeProof({ ...input, token: observer })).toThrow();
    expect(isProof(makeProof({ ...asObserver, token: observer }), input)).toBe(false);
  });
});

describe('a negotiation', () => {
  it('chooses the highest common version and the common capabilities, and is trusted by the client', () => {
    const every = Object.keys(CAPABILITIES) as Capability[];
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.nat(3),
        fc.subarray([...every, 'of-another-version']),
        (min, more, capabilities) => {
          const asked = { ...hello, protocol: { min, max: min + more }, capabilities };
          const chosen = negotiate(asked);
          const meets = min <= PROTOCOL_MAX && min + more >= PROTOCOL_MIN;
          expect(chosen !== null).toBe(meets);
          if (chosen === null) return;
          expect(chosen.protocol).toBe(Math.min(min + more, PROTOCOL_MAX));
          expect(chosen.capabilities).toEqual(
            OFFERED_CAPABILITIES.filter((one) => capabilities.includes(one)),
          );
          const selection = Selection.parse({ ...chosen, nonce: makeNonce(), node: NODE });
          expect(selectionFault(asked, selection)).toBeNull();
        },
      ),
    );
  });

  it('fits its frames when both sides put into it all that they may', () => {
    const largest = Hello.parse({
      ...hello,
      capabilities: Object.keys(CAPABILITIES),
      client: { name: 'n'.repeat(64), version: 'v'.repeat(64) },
    });
    expect(bytes(largest).length).toBeLessThan(HANDSHAKE_FRAME_BYTES_MAX);
    const selection = JSON.stringify({
      protocol: PROTOCOL_MAX,
      capabilities: Object.keys(CAPABILITIES),
      nonce: makeNonce(),
      node: { ...NODE, version: 'v'.repeat(64) },
    });
    const challenge = Challenge.parse({ kind: 'challenge', selection, proof: makeNonce() });
    expect(bytes(challenge).length).toBeLessThan(HANDSHAKE_FRAME_BYTES_MAX);
    expect(bytes(Authenticate.parse({ kind: 'authenticate', proof: makeNonce() })).length).toBeLessThan(256);
  });
});

const NODE = { id: '0'.repeat(16), incarnation: '1'.repeat(16), version: '0.0.0' };
