/**
 * A line to one node through a hub. It is the node's own protocol behind another door: whoever opens it has proved to the hub who it is,
 * and the hub has proved itself to the node.
 *
 *   client                                    hub
 *     open {protocol range, capabilities} ->
 *                                         <-  opened {selection, ready, role}  |  refused {failure}, closed
 *     then requests, parts and binary frames, answers and pushed frames, as with the node itself
 *
 * The hub answers a request itself where the role or the scope of the principal does not allow it (`forbidden`, `out-of-scope`), and ends the
 * line when that to the node is lost. A principal that may not see the whole node gets lists and events without what it may not see.
 */
import * as z from 'zod';
import { Failure } from '../failures.ts';
import { Ready, Role, Selection } from '../handshake.ts';

export const RelayOpen = z.object({
  kind: z.literal('open'),
  protocol: z.object({ min: z.int().positive(), max: z.int().positive() }),
  capabilities: z.array(z.string().max(64)).max(128),
  client: z.object({ name: z.string().min(1).max(64), version: z.string().max(64) }),
});
export type RelayOpen = z.infer<typeof RelayOpen>;

export const RelayOpened = z.object({
  kind: z.literal('opened'),
  /** The node's choice, of what was offered. */
  selection: Selection,
  ready: Ready,
  role: Role,
});
export type RelayOpened = z.infer<typeof RelayOpened>;

/** What an `open` is answered with. */
export const RelayAnswer = z.discriminatedUnion('kind', [
  RelayOpened,
  z.object({ kind: z.literal('refused'), failure: Failure }),
]);
export type RelayAnswer = z.infer<typeof RelayAnswer>;

/** WebSocket path of the relay to a node; the node's id in place of the braces. */
export const RELAY_PATH = '/api/v1/nodes/{node}/connect';
/** WebSocket path at which nodes call home. */
export const CALL_HOME_PATH = '/api/v1/call-home';
/** Header of a call home: who calls. */
export const CALL_HOME_NODE_HEADER = 'x-roost-node';
/** Header of a call home that answers `hub.connect`: the channel it is for. */
export const CALL_HOME_CHANNEL_HEADER = 'x-roost-channel';
