// What a start of the node makes of a managed worktree, on evidence alone: sessions are reconciled already, and what an earlier start
// left at work on it has ended before anything is looked at.
import { FailureError, type LeaseId } from '@roost/protocol';
import { Deadline } from '../deadline.ts';
import { dropUnborn, registerTarget } from './allocation.ts';
import { cleanUp } from './cleanup.ts';
import { factsOf, look, type Seen } from './evidence.ts';
import { mayDiscard } from './ignored-files.ts';
import { planStart, type StartAction } from './judgement.ts';
import { changeLease, findLease, requireLease, tellLease, type LeaseRow } from './lease-table.ts';
import { quiet } from './processes-at.ts';
import { endLeftCommands } from './run-commands.ts';
import { LOOK_MS, type ManagedScene } from './scene.ts';

/** Milliseconds that a worktree waits for what an earlier start left at work on it; others do not wait with it. */
const QUIET_MS = 180_000;

/** The caller holds the lease's lock. `waits`: something is still at work on it, which may take long. */
export async function reconcileLease(
  scene: ManagedScene,
  leaseId: LeaseId,
  waits: () => void = () => undefined,
): Promise<void> {
  const { store, log, signal } = scene;
  const lease = findLease(store.sql, leaseId);
  if (lease === null || lease.state === 'removed') return;
  const isCutOff = lease.state === 'allocating' || lease.cleaning === 1;
  if (isCutOff && !(await hasEnded(scene, lease, waits))) {
    if (signal.aborted) return;
    log.warn({ leaseId }, 'something is still at work on a worktree');
    act(scene, lease, { kind: 'doubt', failure: 'worktree-recovery-required' });
    return;
  }
  const seen = await look(scene, lease);
  if (signal.aborted) return;
  const action = await whenWhole(scene, lease, seen, planStart(factsOf(store.sql, lease), seen.verdict));
  log.info(
    { leaseId, verdict: seen.verdict, action: action.kind },
    'a worktree is held against what is there',
  );
  switch (action.kind) {
    case 'delete':
      await dropUnborn(scene, lease);
      break;
    case 'clean':
      try {
        await cleanUp(scene, leaseId, 'explicit');
      } catch (error) {
        // What stands against it is its state now.
        if (!(error instanceof FailureError)) throw error;
      }
      break;
    case 'settle':
    case 'doubt':
    case 'leave':
      act(scene, lease, action, seen);
      break;
  }
}

async function hasEnded({ signal }: ManagedScene, lease: LeaseRow, waits: () => void): Promise<boolean> {
  return (
    (await endLeftCommands(lease)) && (await quiet(lease.target, { timeoutMs: QUIET_MS, signal, waits }))
  );
}

/** A making that was cut off in the middle of git's work left something that no session may see. */
async function whenWhole(
  { worktrees }: ManagedScene,
  lease: LeaseRow,
  { sighting: { git } }: Seen,
  action: StartAction,
): Promise<StartAction> {
  if (action.kind !== 'settle' || lease.state !== 'allocating' || lease.head !== null) return action;
  const partial: StartAction = { kind: 'doubt', failure: 'worktree-recovery-required' };
  if (git.kind !== 'listed' || git.locked || git.head !== lease.base_commit) return partial;
  const deadline = Deadline.in(LOOK_MS);
  try {
    await worktrees.requireClean(lease.repository_root, lease.target, deadline, {
      mayDiscard: mayDiscard(lease, deadline),
    });
    return action;
  } catch {
    return partial;
  }
}

function act({ store }: ManagedScene, lease: LeaseRow, action: StartAction, seen?: Seen): void {
  store.transact((transaction) => {
    const now = requireLease(transaction.sql, lease.id);
    switch (action.kind) {
      case 'settle': {
        registerTarget(transaction, now);
        const git = seen?.sighting.git;
        const head = git?.kind === 'listed' ? git.head : now.head;
        const { held } = factsOf(transaction.sql, now);
        const change = {
          ...(head === now.head ? {} : { head }),
          ...(now.cleaning === 0 ? {} : { cleaning: 0 }),
        };
        tellLease(transaction, now, { kind: 'settled', held }, change);
        break;
      }
      case 'doubt':
        if (now.state === 'recovery-required' && now.failure === action.failure && now.cleaning === 0) break;
        tellLease(transaction, now, { kind: 'doubted', failure: action.failure }, { cleaning: 0 });
        break;
      case 'leave':
        if (now.cleaning === 1) changeLease(transaction, now, { cleaning: 0 });
        break;
      case 'delete':
      case 'clean':
        break;
    }
  });
}
