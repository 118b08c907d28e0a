import * as z from 'zod';
import { lazySchema } from '../lazy-schema.ts';
import { ControllerState } from '../controller.ts';
import { gated, ProviderId } from '../gates.ts';
import {
  Incarnation,
  KeeperId,
  LeaseId,
  NodeId,
  RecordId,
  ResourceId,
  SessionAddress,
  SessionId,
  WorkspaceId,
} from '../ids.ts';
import { WorktreeLease, WorktreeProfileSummary } from '../managed-worktree.ts';
import { operation } from '../operation.ts';
import { BundleReceipt, SessionRecord } from '../session-record.ts';
import { Session } from '../session.ts';
import { RuntimeCapability, SpawnProfileSummary } from '../spawn-spec.ts';
import { Workspace } from '../workspace.ts';

export const KeeperView = z.object({
  id: KeeperId,
  pid: z.int(),
  /** Version of Roost that the keeper was started from; an older one drains. */
  version: z.string(),
  sessions: z.int().nonnegative(),
  /** `draining`: adopted from another version, gets no new sessions. */
  state: z.enum(['serving', 'draining']),
  residentBytes: z.int().nonnegative(),
});
export type KeeperView = z.infer<typeof KeeperView>;

export const NodeStatus = lazySchema(() =>
  z.object({
    nodeId: NodeId,
    incarnation: Incarnation,
    version: z.string(),
    pid: z.int(),
    startedAt: z.iso.datetime(),
    home: z.string(),
    socket: z.string(),
    platform: z.string(),
    runtime: z.string(),
    residentBytes: z.int().nonnegative(),
    /** What it runs on; a node of before it was told leaves it out. */
    machine: z
      .object({
        processors: z.int().positive(),
        /** Processes that ran or waited to run, on average of the last minute. */
        loadAverage: z.number().nonnegative(),
      })
      .optional(),
    connections: z.object({
      open: z.int().nonnegative(),
      limit: z.int().positive(),
      unauthenticated: z.int().nonnegative(),
      /** How often each reason refused or ended a connection since this start. */
      refused: z.record(z.string(), z.int().nonnegative()),
    }),
    /** Addresses beside the socket on which it listens, such as 127.0.0.1:7433. */
    listening: z.array(z.string()),
    workspaces: z.int().nonnegative(),
    sessions: z.object({ live: z.int().nonnegative(), ended: z.int().nonnegative() }),
    lastEventSequence: z.int().nonnegative(),
    keepers: z.array(KeeperView),
  }),
);
export type NodeStatus = z.infer<typeof NodeStatus>;

export const nodeStatus = operation({
  name: 'node.status',
  summary: 'Tells what this node is and holds.',
  access: 'observer',
  capability: null,
  params: () => z.strictObject({}),
  result: () => NodeStatus,
  failures: [],
});

export const nodeShutdown = operation({
  name: 'node.shutdown',
  summary: 'Stops the node; its sessions go on running unless `stopSessions` is true.',
  access: 'controller',
  capability: null,
  params: () => z.strictObject({ stopSessions: z.boolean().default(false) }),
  result: () => z.object({ stoppedSessions: z.int().nonnegative() }),
  failures: ['stop-incomplete'],
});

/** A provider as this machine has it. */
export const ProviderStatus = lazySchema(() =>
  z.object({
    id: ProviderId,
    displayName: z.string(),
    /** Whether its program was found at the last look. */
    installed: z.boolean(),
    /** What it can be relied on for, by transport. */
    capabilities: z.object({ pty: z.array(RuntimeCapability), pipe: z.array(RuntimeCapability) }),
  }),
);
export type ProviderStatus = z.infer<typeof ProviderStatus>;

/** What an agent is doing, in numbers and closed words. */
export const AgentProgress = lazySchema(() =>
  z.object({
    session: SessionAddress,
    activity: z.enum(['idle', 'working', 'waiting']),
    completedTurns: z.int().nonnegative(),
  }),
);
export type AgentProgress = z.infer<typeof AgentProgress>;

export const NodeSnapshot = lazySchema(() =>
  z.object({
    nodeId: NodeId,
    incarnation: Incarnation,
    /** Everything is as it was after this event. */
    sequence: z.int().nonnegative(),
    controller: ControllerState.nullable(),
    /**
     * null: this is everything. A sequence: only what changed after it; the lists hold those that are new or different, and
     * `removed` those that are gone.
     */
    changedAfter: z.int().nonnegative().nullable(),
    /**
     * Some are left out, because all would not fit into one frame: the oldest records that cannot be resumed before ended
     * sessions, those before dormant records, and what lives last. `record.list` tells all records. Nodes that do not say it
     * leave out nothing.
     */
    truncated: z.boolean().default(false),
    /** By id, as bytes. */
    workspaces: z.array(Workspace),
    /** Oldest first. */
    sessions: z.array(Session),
    /** By id, as bytes. */
    records: z.array(SessionRecord),
    /** Managed worktrees that are not removed, by id. */
    worktrees: gated('managed-worktree-lifecycle-v1', z.array(WorktreeLease).optional()),
    removed: z.object({
      workspaces: z.array(WorkspaceId),
      sessions: z.array(SessionId),
      records: z.array(RecordId),
      worktrees: gated('managed-worktree-lifecycle-v1', z.array(LeaseId).optional()),
    }),
    enabledProviders: z.array(ProviderId),
    providers: gated('provider-runtime-status-v1', z.array(ProviderStatus).optional()),
    launchInventory: z.object({
      spawnProfiles: gated('spawn-spec.defaults-overrides-v1', z.array(SpawnProfileSummary).optional()),
      bundles: gated('session-bundle-materialization-v1', z.array(BundleReceipt).optional()),
      worktreeProfiles: gated('managed-worktree-lifecycle-v1', z.array(WorktreeProfileSummary).optional()),
      environmentProfiles: gated('child-environment-profile-v1', z.array(ResourceId).optional()),
    }),
    progress: gated('agent-progress-snapshot-v1', z.array(AgentProgress).optional()),
  }),
);
export type NodeSnapshot = z.infer<typeof NodeSnapshot>;

export const nodeSnapshot = operation({
  name: 'node.snapshot',
  summary:
    'Shows the whole node at one moment: workspaces, sessions, records, controller, what can be launched. Events after `sequence` continue it.',
  access: 'observer',
  capability: null,
  params: () =>
    z.strictObject({
      /** Only what changed after the `sequence` of an earlier snapshot; everything when that is too long ago. */
      changedAfter: gated('snapshot-delta-v1', z.int().nonnegative().optional()),
    }),
  result: () => NodeSnapshot,
  failures: [],
});
