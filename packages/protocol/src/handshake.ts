/**
 * How both sides prove that they hold the token, without sending it. The node proves first. A proof covers the exact bytes of
 * the hello as it was received and of the selection as it was sent: role, nonces, protocol range, offer and selection; and
 * the direction, so that no proof can be sent back.
 *
 *   client                                        node
 *     hello {role, nonce, range, offer}      ->
 *                                            <-   challenge {selection, proof}  |  refused {failure}, closed
 *     authenticate {proof}                   ->
 *                                            <-   ready {connection, cursor, controller}  |  refused {failure}, closed
 *
 *   proof = HMAC-SHA-256(key, "roost-node-auth-v1" 0x00 | direction | u32 length, hello bytes | u32 length, selection bytes)
 *   direction: 1 the node's, 2 the client's. Lengths are big-endian. Key: the 32 bytes of the token's hexadecimal part.
 */
import * as z from 'zod';
import { OFFERED_CAPABILITIES, type Capability } from './capabilities.ts';
import { PROTOCOL_MAX, PROTOCOL_MIN } from './protocol-version.ts';
import { ConnectionId, Incarnation, NodeId } from './ids.ts';
import { ControllerState } from './controller.ts';

/** operator: may act. observer: may look. */
export const Role = z.enum(['operator', 'observer']);
export type Role = z.infer<typeof Role>;

const hex32 = z.string().regex(/^[0-9a-f]{64}$/, '32 bytes in hexadecimal');

export const Hello = z.object({
  kind: z.literal('hello'),
  role: Role,
  /** 32 random bytes, fresh for this connection. */
  nonce: hex32,
  protocol: z.object({ min: z.int().positive(), max: z.int().positive() }),
  /** Capabilities unknown to this side are ignored. */
  capabilities: z.array(z.string().max(64)).max(128),
  /** `name` says whose launches count together for the quota of idempotency keys. */
  client: z.object({ name: z.string().min(1).max(64), version: z.string().max(64) }),
});
export type Hello = z.infer<typeof Hello>;

/** What the node chose, as the text of one JSON object: its UTF-8 bytes are what the proofs cover. */
export const Selection = z.object({
  protocol: z.int().positive(),
  /** A part of the offer, in the node's order. */
  capabilities: z.array(z.string()),
  /** 32 random bytes, fresh for this connection. */
  nonce: hex32,
  node: z.object({ id: NodeId, incarnation: Incarnation, version: z.string() }),
});
export type Selection = z.infer<typeof Selection>;

export const Challenge = z.object({
  kind: z.literal('challenge'),
  selection: z.string(),
  proof: hex32,
});
export type Challenge = z.infer<typeof Challenge>;

export const Authenticate = z.object({ kind: z.literal('authenticate'), proof: hex32 });
export type Authenticate = z.infer<typeof Authenticate>;

export const Ready = z.object({
  kind: z.literal('ready'),
  connectionId: ConnectionId,
  /** The last event of the journal: what `node.snapshot` shows is at least as new. */
  sequence: z.int().nonnegative(),
  controller: ControllerState.nullable(),
});
export type Ready = z.infer<typeof Ready>;

export type Direction = 'node' | 'client';

const LABEL = new TextEncoder().encode('roost-node-auth-v1\0');

/** The bytes that a proof is made of. */
export function proofTranscript(direction: Direction, hello: Uint8Array, selection: Uint8Array): Uint8Array {
  const transcript = new Uint8Array(LABEL.length + 1 + 4 + hello.length + 4 + selection.length);
  const view = new DataView(transcript.buffer);
  let at = LABEL.length;
  transcript.set(LABEL, 0);
  transcript[at] = direction === 'node' ? 1 : 2;
  at += 1;
  for (const part of [hello, selection]) {
    view.setUint32(at, part.length);
    transcript.set(part, at + 4);
    at += 4 + part.length;
  }
  return transcript;
}

export interface Negotiated {
  readonly protocol: number;
  readonly capabilities: readonly Capability[];
}

/** The highest common version and the common capabilities, in the node's order; null when the ranges do not meet. */
export function negotiate(
  hello: Hello,
  offered: readonly Capability[] = OFFERED_CAPABILITIES,
): Negotiated | null {
  const protocol = Math.min(hello.protocol.max, PROTOCOL_MAX);
  if (protocol < Math.max(hello.protocol.min, PROTOCOL_MIN)) return null;
  return { protocol, capabilities: offered.filter((one) => hello.capabilities.includes(one)) };
}

/** Why a client must not trust a selection; null when it may. */
export function selectionFault(hello: Hello, selection: Selection): string | null {
  const { protocol, capabilities } = selection;
  if (protocol < hello.protocol.min || protocol > hello.protocol.max)
    return 'a protocol that was not offered';
  if (capabilities.some((one) => !hello.capabilities.includes(one)))
    return 'a capability that was not offered';
  if (selection.nonce === hello.nonce) return 'our own nonce';
  return null;
}
