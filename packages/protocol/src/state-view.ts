/**
 * What a node holds, as its events tell it: a fold that the node keeps for its snapshots, and that a client can keep beside it. Each
 * thing knows the event that changed it last, so that what is new after a moment can be picked out. An event that was applied
 * already changes nothing.
 */
import type { ControllerState } from './controller.ts';
import type { NodeEvent } from './events.ts';
import type { LeaseId, RecordId, SessionId, WorkspaceId } from './ids.ts';
import type { WorktreeLease, WorktreeProfileSummary } from './managed-worktree.ts';
import type { SessionRecord } from './session-record.ts';
import { LIVE_STATUSES, type Session } from './session.ts';
import type { SpawnProfileSummary } from './spawn-spec.ts';
import type { Workspace } from './workspace.ts';

/** Removed things of one kind that are remembered: the sessions of a busy day. */
const REMOVED_MAX = 4_096;

export interface Versioned<Value> {
  readonly value: Value;
  /** Sequence of the event that made it so. */
  readonly changedAt: number;
}

export interface StateView {
  /** Everything is as it was after this event. */
  sequence: number;
  /** What changed after this event, or a later one, is known completely. */
  knownFrom: number;
  controller: ControllerState | null;
  spawnProfiles: readonly SpawnProfileSummary[];
  worktreeProfiles: readonly WorktreeProfileSummary[];
  readonly workspaces: Map<WorkspaceId, Versioned<Workspace>>;
  /** In the order in which they came to be. */
  readonly sessions: Map<SessionId, Versioned<Session>>;
  readonly records: Map<RecordId, Versioned<SessionRecord>>;
  /** Managed worktrees that are not removed. */
  readonly worktrees: Map<LeaseId, Versioned<WorktreeLease>>;
  /** What is gone, with the sequence of the event that removed it; oldest first. */
  readonly removed: {
    readonly workspaces: Map<WorkspaceId, number>;
    readonly sessions: Map<SessionId, number>;
    readonly records: Map<RecordId, number>;
    readonly worktrees: Map<LeaseId, number>;
  };
}

export interface StateAtOneMoment {
  readonly sequence: number;
  readonly controller: ControllerState | null;
  readonly spawnProfiles: readonly SpawnProfileSummary[];
  readonly worktreeProfiles: readonly WorktreeProfileSummary[];
  readonly workspaces: readonly Workspace[];
  readonly sessions: readonly Session[];
  readonly records: readonly SessionRecord[];
  readonly worktrees: readonly WorktreeLease[];
}

export function emptyState(): StateView {
  return stateAt({
    sequence: 0,
    controller: null,
    spawnProfiles: [],
    worktreeProfiles: [],
    workspaces: [],
    sessions: [],
    records: [],
    worktrees: [],
  });
}

/** The state that a whole snapshot shows, or the rows of a node. */
export function stateAt(moment: StateAtOneMoment): StateView {
  const { sequence, controller, spawnProfiles, worktreeProfiles } = moment;
  const byId = <Id, Value extends { readonly id: Id }>(values: readonly Value[]) =>
    new Map(values.map((value): [Id, Versioned<Value>] => [value.id, { value, changedAt: sequence }]));
  return {
    sequence,
    knownFrom: sequence,
    controller,
    spawnProfiles,
    worktreeProfiles,
    workspaces: byId(moment.workspaces),
    sessions: byId(moment.sessions),
    records: byId(moment.records),
    worktrees: byId(moment.worktrees),
    removed: { workspaces: new Map(), sessions: new Map(), records: new Map(), worktrees: new Map() },
  };
}

/** Takes the next event in; false when it is not news. */
export function applyEvent(state: StateView, { sequence, body }: NodeEvent): boolean {
  if (sequence <= state.sequence) return false;
  state.sequence = sequence;
  switch (body.kind) {
    case 'node-started':
      // A lease ends with the connection that held it.
      state.controller = null;
      break;
    case 'node-stopped':
      break;
    case 'workspace-registered':
    case 'workspace-changed': {
      const { workspace } = body;
      put(state.workspaces, state.removed.workspaces, workspace, sequence);
      recountLive(state, workspace.id);
      break;
    }
    case 'workspace-unregistered':
      remove(state, 'workspaces', body.workspaceId);
      break;
    case 'session-changed': {
      const { session } = body;
      const before = state.sessions.get(session.id)?.value;
      put(state.sessions, state.removed.sessions, session, sequence);
      if (before !== undefined) recountLive(state, before.workspaceId);
      recountLive(state, session.workspaceId);
      break;
    }
    case 'session-removed': {
      const before = state.sessions.get(body.sessionId)?.value;
      remove(state, 'sessions', body.sessionId);
      if (before !== undefined) recountLive(state, before.workspaceId);
      break;
    }
    case 'record-changed':
      put(state.records, state.removed.records, body.record, sequence);
      break;
    case 'record-removed':
      remove(state, 'records', body.recordId);
      break;
    case 'controller-changed':
      state.controller = body.controller;
      break;
    case 'spawn-profiles-changed':
      state.spawnProfiles = body.profiles;
      break;
    case 'worktree-profiles-changed':
      state.worktreeProfiles = body.profiles;
      break;
    case 'worktree-changed':
      if (body.lease.state === 'removed') remove(state, 'worktrees', body.lease.id);
      else put(state.worktrees, state.removed.worktrees, body.lease, sequence);
      break;
    case 'interaction-changed':
      // Asked for by itself: it is no state of the node, and its session tells that it waits.
      break;
    case 'worktree-removed':
      remove(state, 'worktrees', body.leaseId);
      break;
  }
  return true;
}

function put<Id, Value extends { readonly id: Id }>(
  things: Map<Id, Versioned<Value>>,
  removed: Map<Id, number>,
  value: Value,
  sequence: number,
): void {
  things.set(value.id, { value, changedAt: sequence });
  removed.delete(value.id);
}

function remove<Kind extends keyof StateView['removed']>(
  state: StateView,
  kind: Kind,
  id: Parameters<StateView[Kind]['delete']>[0],
): void {
  const things: Map<typeof id, unknown> = state[kind];
  const removed: Map<typeof id, number> = state.removed[kind];
  things.delete(id);
  removed.delete(id);
  removed.set(id, state.sequence);
  if (removed.size <= REMOVED_MAX) return;
  const [oldest] = removed;
  if (oldest === undefined) return;
  removed.delete(oldest[0]);
  state.knownFrom = Math.max(state.knownFrom, oldest[1]);
}

/** The sessions tell how many of a workspace live; events of a workspace do not come for that. */
function recountLive(state: StateView, id: WorkspaceId): void {
  const workspace = state.workspaces.get(id)?.value;
  if (workspace === undefined) return;
  let liveSessions = 0;
  for (const { value } of state.sessions.values()) {
    if (value.workspaceId === id && LIVE_STATUSES.includes(value.status)) liveSessions += 1;
  }
  if (liveSessions === workspace.liveSessions) return;
  state.workspaces.set(id, { value: { ...workspace, liveSessions }, changedAt: state.sequence });
}
