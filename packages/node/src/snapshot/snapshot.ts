// The whole node at one moment. What is durable comes from the fold of the events that were committed, so a snapshot and the events
// after it never disagree; what changes by the second is laid over it. Nothing is read, nothing waits. It always fits into one frame.
import {
  applyEvent,
  LIVE_STATUSES,
  stateAt,
  type NodeSnapshot,
  type Session,
  type SessionRecord,
  type StateView,
  type Versioned,
  type Workspace,
  type WorktreeLease,
} from '@roost/protocol';
import { AnswerRoom } from '../control/answer-room.ts';
import type { ControllerLease } from '../control/controller-lease.ts';
import type { Handlers } from '../control/handlers.ts';
import type { Journal } from '../events/journal.ts';
import type { KeeperPool } from '../keepers/keeper-pool.ts';
import type { NodeIdentity } from '../node-identity.ts';
import type { Providers } from '../providers/providers.ts';
import { listRecords, recordView } from '../records/record-table.ts';
import { listSessions, storedView } from '../sessions/session-table.ts';
import type { SpawnProfiles } from '../spawn/profiles.ts';
import type { Store } from '../store/store.ts';
import { leaseView, listLeases } from '../managed-worktrees/lease-table.ts';
import type { WorktreeProfiles } from '../managed-worktrees/worktree-profiles.ts';
import { listWorkspaces } from '../workspaces/workspaces.ts';
import { LiveSessions } from './live-sessions.ts';

export interface SnapshotScene {
  readonly store: Store;
  readonly journal: Journal;
  readonly keepers: Pick<KeeperPool, 'child'>;
  readonly lease: Pick<ControllerLease, 'state'>;
  readonly identity: NodeIdentity;
  readonly profiles: Pick<SpawnProfiles, 'summaries'>;
  readonly worktreeProfiles: Pick<WorktreeProfiles, 'summaries'>;
  readonly providers: Pick<Providers, 'statuses'>;
}

/** The fold of everything so far, kept up with every commit from now on. */
function followState({ store, journal, profiles, worktreeProfiles }: SnapshotScene): StateView {
  const state = stateAt({
    sequence: journal.range().last,
    controller: null,
    workspaces: listWorkspaces(store.sql),
    sessions: listSessions(store.sql, true, -1).map(storedView),
    records: listRecords(store.sql).map(recordView),
    spawnProfiles: profiles.summaries(),
    worktreeProfiles: worktreeProfiles.summaries(),
    worktrees: listLeases(store.sql, false).map(leaseView),
  });
  store.onEvent((event) => void applyEvent(state, event));
  return state;
}

export function snapshotOperations(scene: SnapshotScene): Pick<Handlers, 'node.snapshot'> {
  const { identity, lease, providers } = scene;
  const state = followState(scene);
  const live = new LiveSessions((keeperId, sessionId) => scene.keepers.child(keeperId, sessionId));

  return {
    'node.snapshot': ({ changedAfter }): NodeSnapshot => {
      const isKnown =
        changedAfter !== undefined && changedAfter >= state.knownFrom && changedAfter <= state.sequence;
      const lists = (after: number | null) =>
        fitting({
          workspaces: byId(changed(state.workspaces, after)),
          sessions: live.show(state.sessions.values(), after, state.sequence),
          records: byId(changed(state.records, after)),
          worktrees: byId(changed(state.worktrees, after)),
        });
      const changes = isKnown ? lists(changedAfter) : null;
      // Nobody could tell what is missing in a part of the changes.
      const after = changes === null || changes.truncated ? null : (changedAfter ?? null);
      return {
        ...(after === null || changes === null ? lists(null) : changes),
        nodeId: identity.nodeId,
        incarnation: identity.incarnation,
        sequence: state.sequence,
        controller: lease.state,
        changedAfter: after,
        removed: {
          workspaces: goneAfter(state.removed.workspaces, after),
          sessions: goneAfter(state.removed.sessions, after),
          records: goneAfter(state.removed.records, after),
          worktrees: goneAfter(state.removed.worktrees, after),
        },
        enabledProviders: providers.statuses.map(({ id }) => id),
        providers: [...providers.statuses],
        launchInventory: {
          spawnProfiles: [...state.spawnProfiles],
          worktreeProfiles: [...state.worktreeProfiles],
          bundles: [],
          environmentProfiles: [],
        },
        progress: [],
      };
    },
  };
}

interface Lists {
  readonly workspaces: Workspace[];
  readonly sessions: Session[];
  readonly records: SessionRecord[];
  readonly worktrees: WorktreeLease[];
}

/** All of it, or the most important that fits into one answer; of equals, the newest. */
function fitting({
  workspaces,
  worktrees,
  sessions,
  records,
}: Lists): Lists & { readonly truncated: boolean } {
  const room = new AnswerRoom();
  const isLive = ({ status }: Session) => LIVE_STATUSES.includes(status);
  const isDormant = ({ state }: SessionRecord) => state === 'dormant';
  const isUnavailable = ({ state }: SessionRecord) => state === 'unavailable';
  const newest = [...records].sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  const inOrder = [
    workspaces,
    worktrees,
    sessions.filter(isLive).reverse(),
    newest.filter((record) => !isDormant(record) && !isUnavailable(record)),
    newest.filter(isDormant),
    sessions.filter((session) => !isLive(session)).reverse(),
    newest.filter(isUnavailable),
  ].flat();
  const left = new Set<object>(inOrder.filter((thing) => !room.take(thing)));
  if (left.size === 0) return { workspaces, worktrees, sessions, records, truncated: false };
  const fits = (thing: object) => !left.has(thing);
  return {
    workspaces: workspaces.filter(fits),
    worktrees: worktrees.filter(fits),
    sessions: sessions.filter(fits),
    records: records.filter(fits),
    truncated: true,
  };
}

/** All of it, or what changed after a sequence. */
function changed<Value>(things: ReadonlyMap<string, Versioned<Value>>, after: number | null): Value[] {
  const values: Value[] = [];
  for (const { value, changedAt } of things.values())
    if (after === null || changedAt > after) values.push(value);
  return values;
}

function goneAfter<Id>(removed: ReadonlyMap<Id, number>, after: number | null): Id[] {
  return after === null ? [] : [...removed].filter(([, at]) => at > after).map(([id]) => id);
}

/** Ids are ASCII: code units are bytes. */
function byId<One extends { readonly id: string }>(list: One[]): One[] {
  return list.sort((a, b) => (a.id < b.id ? -1 : 1));
}
