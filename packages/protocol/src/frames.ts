import * as z from 'zod';
import { NodeEvent } from './events.ts';
import { Failure } from './failures.ts';
import { Incarnation, NodeId } from './ids.ts';

/**
 * Control frames: one JSON object per WebSocket text message.
 *
 *   client                          node
 *     hello {range, offer}    ->
 *                             <-    welcome {version, selection, node}  |  refused {failure}, closed
 *     request {id, ...}       ->
 *                             <-    response {id, ...}      in order of completion
 *                             <-    event {event}           after events.subscribe, in order of sequence
 */
export const PROTOCOL_MIN = 1;
export const PROTOCOL_MAX = 1;

export const Hello = z.object({
  kind: z.literal('hello'),
  protocol: z.object({ min: z.int().positive(), max: z.int().positive() }),
  /** Capabilities unknown to this side are ignored. */
  capabilities: z.array(z.string().max(64)).max(128),
  client: z.object({ name: z.string().max(64), version: z.string().max(64) }),
});
export type Hello = z.infer<typeof Hello>;

export const Request = z.object({
  kind: z.literal('request'),
  /** Chosen by the client, unique among its open requests. */
  id: z.int().nonnegative(),
  operation: z.string().max(64),
  params: z.unknown(),
  /** Milliseconds after which the client no longer waits. */
  deadlineMs: z.int().positive().optional(),
});
export type Request = z.infer<typeof Request>;

export const ClientFrame = z.discriminatedUnion('kind', [Hello, Request]);
export type ClientFrame = z.infer<typeof ClientFrame>;

export const Welcome = z.object({
  kind: z.literal('welcome'),
  protocol: z.int().positive(),
  capabilities: z.array(z.string()),
  node: z.object({ id: NodeId, incarnation: Incarnation, version: z.string() }),
});
export type Welcome = z.infer<typeof Welcome>;

export const NodeFrame = z.discriminatedUnion('kind', [
  Welcome,
  z.object({ kind: z.literal('refused'), failure: Failure }),
  z.object({ kind: z.literal('response'), id: z.int(), result: z.unknown() }),
  z.object({ kind: z.literal('failure'), id: z.int(), failure: Failure }),
  z.object({ kind: z.literal('event'), event: NodeEvent }),
]);
export type NodeFrame = z.infer<typeof NodeFrame>;

/**
 * What an older client makes of an event whose kind it does not know: a newer node tells more. Only its place in the journal
 * counts; the connection goes on.
 */
export const UnknownEventFrame = z.object({
  kind: z.literal('event'),
  event: z.object({ sequence: z.int().positive(), body: z.unknown().transform(() => null) }),
});
export type UnknownEventFrame = z.infer<typeof UnknownEventFrame>;
export type UnknownEvent = UnknownEventFrame['event'];
