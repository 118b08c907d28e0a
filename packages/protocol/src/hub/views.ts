/**
 * What a hub holds and tells of its nodes without asking them. These schemas are allow-lists: everything else that a node tells is dropped
 * where it comes in. No path, no command line, no environment, no text of an agent or of a program is among it.
 */
import * as z from 'zod';
import { lazySchema } from '../lazy-schema.ts';
import { Incarnation, NodeId, RecordId, SessionId, WorkspaceId } from '../ids.ts';
import { InteractionSummary } from '../interaction.ts';
import { SessionRecord } from '../session-record.ts';
import { Session } from '../session.ts';
import { Workspace, WorkspaceGit } from '../workspace.ts';
import { NodeName, UserName } from './ids.ts';

/**
 * connecting: a line is being made for the first time since the hub began. online: it is there, and the view is live. stale: it is lost
 * since less than a minute, and being made again. offline: for longer. refused: the node or the hub does not take the other's proof
 * or protocol; tried again rarely.
 */
export const LinkState = z.enum(['connecting', 'online', 'stale', 'offline', 'refused']);
export type LinkState = z.infer<typeof LinkState>;

/** Why a link is not online. */
export const LinkReason = z.enum([
  'never-connected',
  'unreachable',
  'connection-lost',
  'unresponsive',
  'unauthorized',
  'unsupported-protocol',
  'identity-changed',
  'shutting-down',
  'connections-exhausted',
]);
export type LinkReason = z.infer<typeof LinkReason>;

export const HubNode = lazySchema(() =>
  z.object({
    id: NodeId,
    name: NodeName,
    /** dialled: the hub connects to it. calls-home: it connects to the hub. */
    way: z.enum(['dialled', 'calls-home']),
    link: z.object({
      state: LinkState,
      since: z.iso.datetime(),
      /** With every state but online. */
      reason: LinkReason.nullable(),
      /** Attempts since it was online last. */
      attempts: z.int().nonnegative(),
    }),
    /** The start of the node that the view is of; null when it was never seen. */
    incarnation: Incarnation.nullable(),
    version: z.string().max(64).nullable(),
    /** The last event in the view. */
    sequence: z.int().nonnegative(),
    /** When the view was right for the last time: now, as long as the link is online. */
    seenAt: z.iso.datetime().nullable(),
    sessions: z.object({ live: z.int().nonnegative(), blocked: z.int().nonnegative() }),
    enrolledAt: z.iso.datetime(),
  }),
);
export type HubNode = z.infer<typeof HubNode>;

export const HubWorkspace = lazySchema(() =>
  Workspace.pick({ id: true, kind: true, createdAt: true, liveSessions: true }).extend({
    git: WorkspaceGit.omit({ branch: true, head: true }).nullable(),
  }),
);
export type HubWorkspace = z.infer<typeof HubWorkspace>;

export const HubSession = lazySchema(() =>
  Session.pick({
    id: true,
    recordId: true,
    generation: true,
    name: true,
    provider: true,
    transport: true,
    status: true,
    workspaceId: true,
    protocol: true,
    size: true,
    activity: true,
    createdAt: true,
    endedAt: true,
    exitCode: true,
    exitSignal: true,
    endReason: true,
    attachedClients: true,
  }),
);
export type HubSession = z.infer<typeof HubSession>;

export const HubRecord = lazySchema(() =>
  SessionRecord.unwrap()
    .pick({
      id: true,
      name: true,
      provider: true,
      transport: true,
      state: true,
      workspaceId: true,
      generation: true,
      activeSession: true,
      createdAt: true,
      updatedAt: true,
      lastError: true,
    })
    .extend({
      /** Whether the provider has told its own session id. */
      hasProviderSession: z.boolean(),
    }),
);
export type HubRecord = z.infer<typeof HubRecord>;

/** Somebody who has a terminal open through the hub. */
export const Watcher = z.object({
  /** null: the owner of the hub's directory. */
  user: UserName.nullable(),
  /** drive: may become the one whose keystrokes and size count. */
  mode: z.enum(['drive', 'watch']),
  /** Is that one. When nobody of a list is, it may be somebody on the machine itself, whom the hub does not see. */
  drives: z.boolean(),
  since: z.iso.datetime(),
});
export type Watcher = z.infer<typeof Watcher>;

/** Facts of a node as a hub tells them: each carries the state after it. */
export const HubEventBody = lazySchema(() =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('node-started'), version: z.string() }),
    z.object({ kind: z.literal('node-stopped') }),
    z.object({ kind: z.literal('workspace-changed'), workspace: HubWorkspace }),
    z.object({ kind: z.literal('workspace-removed'), workspaceId: WorkspaceId }),
    z.object({ kind: z.literal('session-changed'), session: HubSession }),
    z.object({
      kind: z.literal('session-removed'),
      sessionId: SessionId,
      workspaceId: WorkspaceId.nullable(),
    }),
    z.object({ kind: z.literal('record-changed'), record: HubRecord }),
    z.object({ kind: z.literal('record-removed'), recordId: RecordId, workspaceId: WorkspaceId.nullable() }),
    z.object({ kind: z.literal('interaction-changed'), interaction: InteractionSummary }),
    /** Who has the terminal of a session open through the hub, and which of them drives. */
    z.object({
      kind: z.literal('watchers-changed'),
      sessionId: SessionId,
      workspaceId: WorkspaceId.nullable(),
      watchers: z.array(Watcher),
    }),
    /** The link of the node, its name, or what is counted of it. */
    z.object({ kind: z.literal('node-changed'), node: HubNode }),
    /** It is enrolled no more. */
    z.object({ kind: z.literal('node-removed') }),
    /** The view was made anew: what was known of the node is to be read again. */
    z.object({ kind: z.literal('node-resynced') }),
  ]),
);
export type HubEventBody = z.infer<typeof HubEventBody>;

/**
 * `id` counts from 1 within one start of the hub; together with `run` it is a cursor. `sequence` is that of the node's own event; null for
 * what the hub itself says.
 */
export const HubEvent = lazySchema(() =>
  z.object({
    id: z.int().positive(),
    /** One start of the hub. */
    run: z.string().regex(/^[0-9a-f]{16}$/),
    nodeId: NodeId,
    sequence: z.int().positive().nullable(),
    at: z.iso.datetime(),
    body: HubEventBody,
  }),
);
export type HubEvent = z.infer<typeof HubEvent>;

/** A session and where it is. */
export const PlacedSession = lazySchema(() =>
  HubSession.unwrap().extend({ nodeId: NodeId, nodeName: NodeName }),
);
export type PlacedSession = z.infer<typeof PlacedSession>;
export const PlacedRecord = lazySchema(() =>
  HubRecord.unwrap().extend({ nodeId: NodeId, nodeName: NodeName }),
);
export type PlacedRecord = z.infer<typeof PlacedRecord>;
export const PlacedWorkspace = lazySchema(() =>
  HubWorkspace.unwrap().extend({ nodeId: NodeId, nodeName: NodeName }),
);
export type PlacedWorkspace = z.infer<typeof PlacedWorkspace>;
