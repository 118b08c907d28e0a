import * as z from 'zod';
import { lazySchema } from './lazy-schema.ts';
import { gatedWhole, ProviderId } from './gates.ts';
import { ControllerState } from './controller.ts';
import { Incarnation, LeaseId, RecordId, SessionId, WorkspaceId } from './ids.ts';
import { InteractionSummary } from './interaction.ts';
import { WorktreeLease, WorktreeProfileSummary } from './managed-worktree.ts';
import { SessionRecord } from './session-record.ts';
import { Session } from './session.ts';
import { SpawnProfileSummary } from './spawn-spec.ts';
import { Workspace } from './workspace.ts';

/** Facts in the durable journal. Each carries the state after it, so applying one twice is harmless. */
export const EventBody = lazySchema(() =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('node-started'), incarnation: Incarnation, version: z.string() }),
    z.object({ kind: z.literal('node-stopped'), incarnation: Incarnation }),
    z.object({ kind: z.literal('workspace-registered'), workspace: Workspace }),
    z.object({ kind: z.literal('workspace-unregistered'), workspaceId: WorkspaceId }),
    /** What git says of it is different; at most once in two seconds for each workspace. */
    gatedWhole('git-read-v1', z.object({ kind: z.literal('workspace-changed'), workspace: Workspace })),
    /** A session came to be or changed: `session` is its whole state, without usage. */
    z.object({ kind: z.literal('session-changed'), session: Session }),
    /** `provider` tells peers that do not see every provider whether it was one of theirs. */
    z.object({ kind: z.literal('session-removed'), sessionId: SessionId, provider: ProviderId }),
    z.object({ kind: z.literal('record-changed'), record: SessionRecord }),
    z.object({ kind: z.literal('record-removed'), recordId: RecordId, provider: ProviderId }),
    /** The lease has another holder, or none. Renewals and brief leases are no events. */
    z.object({
      kind: z.literal('controller-changed'),
      controller: ControllerState.nullable(),
      reason: z.enum(['acquired', 'taken-over', 'released', 'expired', 'disconnected']),
    }),
    gatedWhole(
      'spawn-spec.defaults-overrides-v1',
      z.object({ kind: z.literal('spawn-profiles-changed'), profiles: z.array(SpawnProfileSummary) }),
    ),
    gatedWhole(
      'managed-worktree-lifecycle-v1',
      z.object({ kind: z.literal('worktree-profiles-changed'), profiles: z.array(WorktreeProfileSummary) }),
    ),
    /** A managed worktree came to be or changed; one that is removed tells so by its state, and is listed no more. */
    gatedWhole(
      'managed-worktree-lifecycle-v1',
      z.object({ kind: z.literal('worktree-changed'), lease: WorktreeLease }),
    ),
    /** An agent asks something, or that is settled. */
    gatedWhole(
      'agent-conversation-v1',
      z.object({ kind: z.literal('interaction-changed'), interaction: InteractionSummary }),
    ),
    /** Its making failed, and nothing of it is left. */
    gatedWhole(
      'managed-worktree-lifecycle-v1',
      z.object({ kind: z.literal('worktree-removed'), leaseId: LeaseId }),
    ),
  ]),
);
export type EventBody = z.infer<typeof EventBody>;

/**
 * `sequence` counts from 1, without gaps, across restarts of the node; `incarnation` is the start of the node that wrote it.
 * Both together are a cursor. A peer that may not see an event does not get it: gaps are no loss.
 */
export const NodeEvent = lazySchema(() =>
  z.object({
    sequence: z.int().positive(),
    incarnation: Incarnation,
    at: z.iso.datetime(),
    body: EventBody,
  }),
);
export type NodeEvent = z.infer<typeof NodeEvent>;
