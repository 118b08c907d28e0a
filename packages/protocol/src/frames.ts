import * as z from 'zod';
import { NodeEvent } from './events.ts';
import { Failure } from './failures.ts';
import { Authenticate, Challenge, Hello, Ready } from './handshake.ts';
import { Incarnation, SessionAddress } from './ids.ts';
import { ScreenFrame } from './screen-frame.ts';

/**
 * Control frames: one JSON object per WebSocket text message.
 *
 *   client                          node
 *     hello, authenticate ...            see `handshake.ts`
 *     request {id, ...}       ->
 *                             <-    response {id, ...} | failure {id, ...}     in order of completion
 *                             <-    event {event}             events.subscribe: durable, in order, once
 *                             <-    resync-required {floor}   the journal no longer holds what comes next
 *                             <-    screen {session, frame}   screen.watch: the newest of each session
 *                             <-    output {session, ...}     session.followOutput: in order, from an offset
 *
 * A request beyond the size of one frame travels in parts: the JSON text of its request frame, cut anywhere.
 */
export const Request = z.object({
  kind: z.literal('request'),
  /** Chosen by the client, unique among its open requests. */
  id: z.int().nonnegative(),
  operation: z.string().max(64),
  params: z.unknown(),
  /** Milliseconds after which the client no longer waits. */
  deadlineMs: z.int().positive().optional(),
  /**
   * brief: take the controller lease for the admission of this request, when nobody holds it, and give it back. Not an
   * event; nobody sees it. Without it, an operation of access `controller` needs the lease from `controller.acquire`.
   */
  lease: z.literal('brief').optional(),
});
export type Request = z.infer<typeof Request>;

export const RequestPart = z.object({
  kind: z.literal('part'),
  /** That of the request. */
  id: z.int().nonnegative(),
  text: z.string(),
  last: z.boolean(),
});
export type RequestPart = z.infer<typeof RequestPart>;

export const ClientFrame = z.discriminatedUnion('kind', [Hello, Authenticate, Request, RequestPart]);
export type ClientFrame = z.infer<typeof ClientFrame>;

export const ResyncRequired = z.object({
  kind: z.literal('resync-required'),
  /** Oldest event that can still be had. */
  floor: z.int().nonnegative(),
  last: z.int().nonnegative(),
  incarnation: Incarnation,
});
export type ResyncRequired = z.infer<typeof ResyncRequired>;

export const OutputFrame = z.object({
  kind: z.literal('output'),
  session: SessionAddress,
  stream: z.enum(['stdout', 'stderr']),
  /** Absolute offset of the first byte. */
  offset: z.int().nonnegative(),
  base64: z.string(),
  nextOffset: z.int().nonnegative(),
  /** No more will come. */
  ended: z.boolean(),
});
export type OutputFrame = z.infer<typeof OutputFrame>;

export const NodeFrame = z.discriminatedUnion('kind', [
  Challenge,
  Ready,
  z.object({ kind: z.literal('refused'), failure: Failure }),
  z.object({ kind: z.literal('response'), id: z.int(), result: z.unknown() }),
  z.object({ kind: z.literal('failure'), id: z.int(), failure: Failure }),
  z.object({ kind: z.literal('event'), event: NodeEvent }),
  ResyncRequired,
  z.object({ kind: z.literal('screen'), session: SessionAddress, frame: ScreenFrame }),
  OutputFrame,
]);
export type NodeFrame = z.infer<typeof NodeFrame>;

/**
 * What an older client makes of an event whose kind it does not know: a newer node tells more. Only its place in the journal
 * counts; the connection goes on.
 */
export const UnknownEventFrame = z.object({
  kind: z.literal('event'),
  event: z.object({
    sequence: z.int().positive(),
    incarnation: Incarnation,
    body: z.unknown().transform(() => null),
  }),
});
export type UnknownEventFrame = z.infer<typeof UnknownEventFrame>;
export type UnknownEvent = UnknownEventFrame['event'];
