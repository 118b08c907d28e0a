import * as z from 'zod';
import { Incarnation, SessionId, WorkspaceId } from './ids.ts';
import { Session } from './operations/session.ts';
import { Workspace } from './operations/workspace.ts';

/** Facts in the durable journal. Each carries the state after it, so applying one twice is harmless. */
export const EventBody = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('node-started'), incarnation: Incarnation, version: z.string() }),
  z.object({ kind: z.literal('node-stopped'), incarnation: Incarnation }),
  z.object({ kind: z.literal('workspace-registered'), workspace: Workspace }),
  z.object({ kind: z.literal('workspace-unregistered'), workspaceId: WorkspaceId }),
  /** A session came to be or changed: `session` is its whole state, without usage. */
  z.object({ kind: z.literal('session-changed'), session: Session }),
  z.object({ kind: z.literal('session-removed'), sessionId: SessionId }),
]);
export type EventBody = z.infer<typeof EventBody>;

/** `sequence` counts from 1, without gaps, across restarts of the node. */
export const NodeEvent = z.object({ sequence: z.int().positive(), at: z.iso.datetime(), body: EventBody });
export type NodeEvent = z.infer<typeof NodeEvent>;
