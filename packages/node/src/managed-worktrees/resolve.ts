// A person's decision about a managed worktree. The evidence is taken anew under the lease's lock: only what it offers at that moment
// is done.
import { FailureError, type LeaseChoice, type LeaseId } from '@roost/protocol';
import { Deadline } from '../deadline.ts';
import { findWorkspace, unregisterWorkspace } from '../workspaces/workspaces.ts';
import { registerTarget } from './allocation.ts';
import { branchTip } from './branches.ts';
import { cleanUp } from './cleanup.ts';
import { factsOf, look } from './evidence.ts';
import { choicesFor } from './judgement.ts';
import { commandReceipt, requireLease, tellLease, workspaceOf, type LeaseRow } from './lease-table.ts';
import { LOOK_MS, type ManagedScene } from './scene.ts';

/** @throws FailureError: unknown-worktree-lease, worktree-choice-refused, workspaces-exhausted; those of a cleanup. */
export async function resolveLease(
  scene: ManagedScene,
  leaseId: LeaseId,
  choice: LeaseChoice,
): Promise<LeaseRow> {
  const { store } = scene;
  const lease = requireLease(store.sql, leaseId);
  const { sighting, verdict } = await look(scene, lease);
  const choices = choicesFor(factsOf(store.sql, lease), sighting, verdict);
  if (!choices.includes(choice)) throw new FailureError('worktree-choice-refused', { leaseId, choices });
  switch (choice) {
    case 'retry-cleanup':
      return cleanUp(scene, leaseId, 'explicit');
    case 'keep':
      return store.transact((transaction) => {
        const now = requireLease(transaction.sql, leaseId);
        registerTarget(transaction, now);
        const branch = sighting.git.kind === 'listed' ? sighting.git.branch : null;
        return tellLease(
          transaction,
          now,
          { kind: 'ended', outcome: 'kept' },
          {
            ...ENDED,
            outcome: 'kept',
            branch_kept: branch === now.branch ? 1 : now.branch_kept,
          },
        );
      });
    case 'forget': {
      const tip = await branchTip(scene.git, lease.repository_root, lease.branch, Deadline.in(LOOK_MS));
      return store.transact((transaction) => {
        const now = requireLease(transaction.sql, leaseId);
        if (findWorkspace(transaction.sql, leaseId) !== null)
          unregisterWorkspace(transaction, workspaceOf(now));
        return tellLease(
          transaction,
          now,
          { kind: 'ended', outcome: 'forgotten' },
          {
            ...ENDED,
            outcome: 'forgotten',
            branch_kept: tip === null ? 0 : 1,
          },
        );
      });
    }
    case 'adopt-as-ready':
      return store.transact((transaction) => {
        const now = requireLease(transaction.sql, leaseId);
        registerTarget(transaction, now);
        const { held } = factsOf(transaction.sql, now);
        const head = sighting.git.kind === 'listed' ? sighting.git.head : now.head;
        // It was asked for: it does not go before somebody was in it.
        const change = { cleaning: 0, idempotency_key: null, head, reserved: 1, setup: vouchedFor(now) };
        return tellLease(transaction, now, { kind: 'settled', held }, change);
      });
  }
}

const ENDED = { cleaning: 0, idempotency_key: null } as const;

/** Whoever takes it as it is says that it is set up. */
function vouchedFor(lease: LeaseRow): string | null {
  const setup = commandReceipt(lease.setup);
  return setup === null ? null : JSON.stringify({ ...setup, outcome: 'done' });
}
