import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CAPABILITIES,
  HANDSHAKE_FRAME_BYTES_MAX,
  Incarnation,
  NodeId,
  OFFERED_CAPABILITIES,
  PROTOCOL_MAX,
  PROTOCOL_MIN,
  Selection,
  type Hello,
  type Role,
} from '@roost/protocol';
import { makeNonce, makeOperatorToken, makeProof, observerToken } from '@roost/protocol/node';
import { NodeHandshake, type HandshakeStep } from './handshake.ts';

const token = makeOperatorToken();
const node = {
  id: NodeId.parse('00000000000000bb'),
  incarnation: Incarnation.parse('00000000000000aa'),
  version: '1.2.3-rc.4',
};
const helloOf = (changes: Partial<Hello> = {}): Hello => ({
  kind: 'hello',
  role: 'operator',
  nonce: makeNonce(),
  protocol: { min: PROTOCOL_MIN, max: PROTOCOL_MAX },
  capabilities: [...OFFERED_CAPABILITIES],
  client: { name: 'test', version: '0' },
  ...changes,
});
const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));

/** The step after hello has to be a challenge. */
function challenge(handshake: NodeHandshake, hello: Buffer) {
  const step = handshake.next(hello);
  if (step.kind !== 'challenge') throw new Error(`no challenge but ${step.kind}`);
  return { proof: step.frame.proof, selection: Buffer.from(step.frame.selection) };
}

const authenticate = (proof: string) => bytesOf({ kind: 'authenticate', proof });
const outcome = (step: HandshakeStep) => (step.kind === 'refused' ? step.reason : step.kind);

describe("the node's half of the handshake", () => {
  it('ends with what the client is and what both know, once both have proved the token', () => {
    const handshake = new NodeHandshake(token, node);
    const hello = bytesOf(helloOf({ capabilities: ['event-journal-v1', 'from-the-future-v9'] }));
    const { proof, selection } = challenge(handshake, hello);
    expect(proof).toBe(makeProof({ token, role: 'operator', direction: 'node', hello, selection }));
    expect(Selection.parse(JSON.parse(selection.toString()))).toMatchObject({
      protocol: PROTOCOL_MAX,
      capabilities: ['event-journal-v1'],
      node,
    });
    const answer = makeProof({ token, role: 'operator', direction: 'client', hello, selection });
    const step = handshake.next(authenticate(answer));
    expect(step).toMatchObject({ kind: 'proved', hello: { client: { name: 'test' } } });
  });

  it('breaks when any byte of what was said differs, however JSON would read it', () => {
    const hello = bytesOf(helloOf());
    fc.assert(
      fc.property(fc.boolean(), fc.nat(), fc.integer({ min: 1, max: 255 }), (inHello, place, change) => {
        const handshake = new NodeHandshake(token, node);
        const { selection } = challenge(handshake, hello);
        const seen = { hello: Buffer.from(hello), selection: Buffer.from(selection) };
        const changed = inHello ? seen.hello : seen.selection;
        const at = place % changed.length;
        changed[at] = (changed[at] ?? 0) ^ change;
        const proof = makeProof({ token, role: 'operator', direction: 'client', ...seen });
        expect(outcome(handshake.next(authenticate(proof)))).toBe('unauthorized');
      }),
    );
    const handshake = new NodeHandshake(token, node);
    const { selection } = challenge(handshake, hello);
    const spaced = Buffer.from(` ${hello.toString()}`);
    const proof = makeProof({ token, role: 'operator', direction: 'client', hello: spaced, selection });
    expect(outcome(handshake.next(authenticate(proof)))).toBe('unauthorized');
  });

  it.each<[string, (own: string, hello: Buffer, selection: Buffer) => string, Role, string]>([
    ["the node's own proof", (own) => own, 'operator', 'unauthorized'],
    [
      "an observer's proof of an operator",
      (_, hello, selection) =>
        makeProof({ token: observerToken(token), role: 'observer', direction: 'client', hello, selection }),
      'operator',
      'unauthorized',
    ],
    [
      'the proof of another token',
      (_, hello, selection) =>
        makeProof({ token: makeOperatorToken(), role: 'operator', direction: 'client', hello, selection }),
      'operator',
      'unauthorized',
    ],
    [
      "an observer's proof of an observer",
      (_, hello, selection) =>
        makeProof({ token: observerToken(token), role: 'observer', direction: 'client', hello, selection }),
      'observer',
      'proved',
    ],
    [
      "an operator's proof of an observer",
      (_, hello, selection) => makeProof({ token, role: 'observer', direction: 'client', hello, selection }),
      'observer',
      'proved',
    ],
  ])('judges %s', (_, prove, role, expected) => {
    const handshake = new NodeHandshake(token, node);
    const hello = bytesOf(helloOf({ role }));
    const { proof, selection } = challenge(handshake, hello);
    expect(outcome(handshake.next(authenticate(prove(proof, hello, selection))))).toBe(expected);
  });

  it('takes no proof of an earlier connection', () => {
    const hello = bytesOf(helloOf());
    const first = new NodeHandshake(token, node);
    const { selection } = challenge(first, hello);
    const proof = makeProof({ token, role: 'operator', direction: 'client', hello, selection });
    expect(outcome(first.next(authenticate(proof)))).toBe('proved');
    const second = new NodeHandshake(token, node);
    challenge(second, hello);
    expect(outcome(second.next(authenticate(proof)))).toBe('unauthorized');
  });

  it('refuses by name whatever else comes, at either step', () => {
    const fresh = () => new NodeHandshake(token, node);
    const greeted = () => {
      const handshake = fresh();
      challenge(handshake, bytesOf(helloOf()));
      return handshake;
    };
    for (const make of [fresh, greeted]) {
      expect(outcome(make().next(Buffer.from('{')))).toBe('handshake-malformed');
      expect(outcome(make().next(bytesOf([])))).toBe('handshake-malformed');
      const long = Buffer.alloc(HANDSHAKE_FRAME_BYTES_MAX + 1, ' ');
      expect(outcome(make().next(long))).toBe('frame-too-large');
    }
    expect(outcome(greeted().next(bytesOf(helloOf())))).toBe('handshake-malformed');
    expect(outcome(fresh().next(authenticate('0'.repeat(64))))).toBe('handshake-malformed');
    expect(outcome(greeted().next(authenticate('0'.repeat(63))))).toBe('handshake-malformed');
    const newer = { min: PROTOCOL_MAX + 1, max: PROTOCOL_MAX + 1 };
    expect(outcome(fresh().next(bytesOf(helloOf({ protocol: newer }))))).toBe('protocol-mismatch');
  });

  it('fits its frames when everything is as long as it may be', () => {
    const hello = helloOf({
      capabilities: Object.keys(CAPABILITIES),
      client: { name: '\u{1f426}'.repeat(32), version: '9'.repeat(64) },
    });
    expect(bytesOf(hello).length).toBeLessThanOrEqual(HANDSHAKE_FRAME_BYTES_MAX);
    const step = new NodeHandshake(token, { ...node, version: '9'.repeat(256) }).next(bytesOf(hello));
    if (step.kind !== 'challenge') throw new Error('no challenge');
    expect(bytesOf(step.frame).length).toBeLessThanOrEqual(HANDSHAKE_FRAME_BYTES_MAX);
  });
});
