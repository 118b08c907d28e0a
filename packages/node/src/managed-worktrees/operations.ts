// The operations of managed worktrees.
import type { Handlers } from '../control/handlers.ts';
import type { SpawnLedger } from '../spawn/ledger.ts';
import type { Store } from '../store/store.ts';
import { leaseView, listLeases } from './lease-table.ts';
import type { ManagedWorktrees } from './managed-worktrees.ts';
import { findPlace } from './profile-place.ts';
import type { WorktreeProfiles } from './worktree-profiles.ts';

interface ManagedOperationsScene {
  readonly store: Store;
  readonly ledger: SpawnLedger;
  readonly managed: ManagedWorktrees;
  readonly worktreeProfiles: WorktreeProfiles;
  /** The home directory of the person whose node this is. */
  readonly userHome: string | undefined;
}

type ManagedOperation =
  | 'worktree.profiles'
  | 'worktree.leases'
  | 'worktree.allocate'
  | 'worktree.spawn'
  | 'worktree.cleanup'
  | 'worktree.evidence'
  | 'worktree.resolve';

export function managedWorktreeOperations(scene: ManagedOperationsScene): Pick<Handlers, ManagedOperation> {
  const { store, ledger, managed, worktreeProfiles, userHome } = scene;
  return {
    'worktree.profiles': async () => {
      worktreeProfiles.refresh();
      const faults = [...worktreeProfiles.faults];
      for (const { id, profile } of worktreeProfiles.all) {
        const outcome = await findPlace(store.sql, profile, userHome);
        if (!('place' in outcome)) faults.push({ file: `${id}.json`, fault: outcome.reason });
      }
      return { profiles: worktreeProfiles.summaries(), faults };
    },
    'worktree.leases': ({ includeRemoved }) => ({
      leases: listLeases(store.sql, includeRemoved).map(leaseView),
    }),
    'worktree.allocate': async (request) => leaseView(await managed.allocate(request)),
    'worktree.spawn': (request, caller) => {
      const asked = { key: request.spec.idempotencyKey, request, isLateRemembered: false };
      return ledger.submit(asked, caller.clientName, (entry) => managed.spawn(request, caller, entry));
    },
    'worktree.cleanup': async ({ leaseId }) => leaseView(await managed.cleanup(leaseId)),
    'worktree.evidence': ({ leaseId }) => managed.evidence(leaseId),
    'worktree.resolve': async ({ leaseId, choice }) => leaseView(await managed.resolve(leaseId, choice)),
  };
}
