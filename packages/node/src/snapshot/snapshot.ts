// The whole node at one moment. What is durable comes from the fold of the events that were committed, so a snapshot and the events
// after it never disagree; what changes by the second is laid over it. Nothing is read, nothing waits.
import { LIVE_STATUSES, StateView, type NodeSnapshot, type Session } from '@roost/protocol';
import type { ControllerLease } from '../control/controller-lease.ts';
import type { Handlers } from '../control/handlers.ts';
import type { Journal } from '../events/journal.ts';
import type { KeeperPool } from '../keepers/keeper-pool.ts';
import type { NodeIdentity } from '../node-identity.ts';
import { listRecords, recordView } from '../records/record-table.ts';
import { listSessions, storedView, withChild } from '../sessions/session-table.ts';
import type { SpawnProfiles } from '../spawn/profiles.ts';
import type { Store } from '../store/store.ts';
import { listWorkspaces } from '../workspaces/workspaces.ts';
import type { ProviderCatalog } from './provider-catalog.ts';

export interface SnapshotScene {
  readonly store: Store;
  readonly journal: Journal;
  readonly keepers: Pick<KeeperPool, 'child'>;
  readonly lease: Pick<ControllerLease, 'state'>;
  readonly identity: NodeIdentity;
  readonly profiles: SpawnProfiles;
  readonly providers: ProviderCatalog;
}

/** The fold of everything so far, kept up with every commit from now on. */
export function followState(store: Store, journal: Journal, profiles: SpawnProfiles): StateView {
  const state = new StateView({
    sequence: journal.range().last,
    workspaces: listWorkspaces(store.sql),
    sessions: listSessions(store.sql, true, -1).map(storedView),
    records: listRecords(store.sql).map(recordView),
    spawnProfiles: profiles.summaries(),
  });
  store.onEvent((event) => state.apply(event));
  return state;
}

export function snapshotOperations(scene: SnapshotScene): Pick<Handlers, 'node.snapshot' | 'provider.list'> {
  const { identity, lease, providers } = scene;
  const state = followState(scene.store, scene.journal, scene.profiles);
  const shown = (session: Session): Session =>
    LIVE_STATUSES.includes(session.status)
      ? withChild(session, scene.keepers.child(session.keeperId, session.id))
      : session;

  return {
    'node.snapshot': ({ changedAfter }): NodeSnapshot => {
      const delta = changedAfter === undefined ? null : state.changedAfter(changedAfter);
      return {
        nodeId: identity.nodeId,
        incarnation: identity.incarnation,
        sequence: state.sequence,
        controller: lease.state,
        changedAfter: delta === null ? null : (changedAfter ?? null),
        workspaces: byId(delta?.workspaces ?? [...state.workspaces.values()]),
        sessions: (delta?.sessions ?? [...state.sessions.values()]).map(shown),
        records: byId(delta?.records ?? [...state.records.values()]),
        removed: delta?.removed ?? { workspaces: [], sessions: [], records: [] },
        enabledProviders: providers.ids,
        providers: [...providers.statuses],
        launchInventory: {
          spawnProfiles: [...state.spawnProfiles],
          bundles: [],
          environmentProfiles: [],
        },
        progress: [],
      };
    },

    'provider.list': () => ({ providers: [...providers.look()] }),
  };
}

/** Ids are ASCII: code units are bytes. */
function byId<One extends { readonly id: string }>(list: One[]): One[] {
  return list.sort((a, b) => (a.id < b.id ? -1 : 1));
}
