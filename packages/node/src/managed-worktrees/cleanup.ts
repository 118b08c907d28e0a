// Taking a managed worktree away. Who is in it is asked before git is, and nobody can come in from then on; nothing is forced; what
// would be lost stops it; commits that nothing else reaches are kept first. Each step can be done again after a crash.
import { FailureError, type FailureCode, type LeaseId } from '@roost/protocol';
import { Deadline } from '../deadline.ts';
import { findWorkspace, unregisterWorkspace } from '../workspaces/workspaces.ts';
import { keepAbandoned, settleBranch, withoutPaths } from './branches.ts';
import { look, type Seen } from './evidence.ts';
import { madeIn, mayDiscard } from './ignored-files.ts';
import {
  changeLease,
  commandReceipt,
  findLease,
  holdersOf,
  leaseView,
  leftoversOf,
  profileOf,
  requireLease,
  tellLease,
  workspaceOf,
  type LeaseRow,
} from './lease-table.ts';
import { runCommands } from './run-commands.ts';
import { alone, CHANGE_MS, LOOK_MS, type ManagedScene } from './scene.ts';

/** automatic: only what nobody was asked about, and what may go by itself. */
export type CleanupKind = 'explicit' | 'automatic';

/**
 * The caller holds the lease's lock. The row as it is afterwards: removed, or for an automatic one that may not go, as it was.
 * @throws FailureError: unknown-worktree-lease, worktree-in-use, worktree-dirty, worktree-locked, worktree-protected,
 * worktree-recovery-required, worktree-teardown-failed, git-*, shutting-down.
 */
export async function cleanUp(scene: ManagedScene, leaseId: LeaseId, kind: CleanupKind): Promise<LeaseRow> {
  const { store } = scene;
  const before = requireLease(store.sql, leaseId);
  if (before.state === 'removed') return before;
  if (kind === 'automatic' && !mayGoByItself(before)) return before;
  if (leftoversOf(store.sql, leaseId) > 0) await scene.removals.clean();
  const lease = store.transact((transaction) => {
    const now = requireLease(transaction.sql, leaseId);
    const { sessions, records } = holdersOf(transaction.sql, leaseId);
    const leftovers = leftoversOf(transaction.sql, leaseId);
    if (sessions + records + leftovers > 0) {
      throw new FailureError('worktree-in-use', { leaseId, sessions, records, leftovers });
    }
    return changeLease(transaction, now, { cleaning: 1 });
  });
  await scene.reached('cleanup-begun');
  try {
    return await remove(scene, lease);
  } catch (error) {
    if (scene.signal.aborted) throw new FailureError('shutting-down', {}, { cause: error });
    giveUp(scene, leaseId, error);
    throw withoutPaths(error, leaseId);
  }
}

/** Whether it goes when nobody asks. */
export function mayGoByItself(lease: LeaseRow): boolean {
  const view = leaseView(lease);
  const isFree = view.holders.sessions + view.holders.records === 0;
  return (
    lease.state === 'ready' && lease.reserved === 0 && view.retention === 'remove-when-released' && isFree
  );
}

async function remove(scene: ManagedScene, begun: LeaseRow): Promise<LeaseRow> {
  const { store, worktrees, git } = scene;
  const { id, target, repository_root: root } = begun;
  const seen = await look(scene, begun);
  let lease = begun;
  const refs = leaseView(lease).recoveryRefs;
  switch (seen.verdict) {
    case 'owned':
      await checkRemovable(scene, lease);
      lease = await tearDown(scene, lease);
      await keepCommits(scene, lease, refs);
      await alone(scene, root, () => {
        const deadline = Deadline.in(CHANGE_MS);
        return worktrees.remove(root, target, deadline, { mayDiscard: mayDiscard(lease, deadline) });
      });
      break;
    case 'directory-gone':
      await keepCommits(scene, lease, refs);
      await alone(scene, root, () => worktrees.forget(root, target, Deadline.in(CHANGE_MS)));
      break;
    case 'absent':
      break;
    case 'not-ours':
      throw new FailureError('worktree-not-owned', { leaseId: id });
    case 'unknown':
      throw new FailureError('git-failed', { leaseId: id });
  }
  await scene.reached('worktree-removed');
  const branchKept = await settleBranch(git, root, lease.branch, Deadline.in(LOOK_MS));
  await scene.reached('branch-settled');
  const removed = store.transact((transaction) => {
    const now = requireLease(transaction.sql, id);
    if (findWorkspace(transaction.sql, id) !== null) unregisterWorkspace(transaction, workspaceOf(now));
    return tellLease(
      transaction,
      now,
      { kind: 'ended', outcome: 'removed' },
      {
        outcome: 'removed',
        cleaning: 0,
        branch_kept: branchKept ? 1 : 0,
        head: headOf(seen) ?? now.head,
        // An allocation is answered with what came of it; a launch that was cut off may be asked for anew.
        ...(now.origin === 'spawn' ? { idempotency_key: null } : {}),
      },
    );
  });
  await scene.reached('lease-removed');
  return removed;
}

function headOf({ sighting: { git } }: Seen): LeaseRow['head'] {
  return git.kind === 'listed' ? git.head : null;
}

/** Before the tear-down: a worktree that stays keeps what its set-up made. */
async function checkRemovable({ worktrees }: ManagedScene, lease: LeaseRow): Promise<void> {
  const deadline = Deadline.in(LOOK_MS);
  await worktrees.requireClean(lease.repository_root, lease.target, deadline, {
    mayDiscard: mayDiscard(lease, deadline),
  });
}

/** Everything ignored might go before it: so may what it made of that. */
async function tearDown(scene: ManagedScene, lease: LeaseRow): Promise<LeaseRow> {
  const { store, source, home, signal, log } = scene;
  const commands = profileOf(lease).teardown;
  if (commands.length === 0 || commandReceipt(lease.teardown)?.outcome === 'done') return lease;
  const ran = await runCommands({ environment: source.environment, home, signal }, lease, commands);
  if (signal.aborted) throw new FailureError('shutting-down');
  const made = JSON.stringify(await madeIn(scene, lease));
  const told = store.transact((transaction) =>
    changeLease(transaction, requireLease(transaction.sql, lease.id), {
      made,
      teardown: JSON.stringify({ ...ran, notCopied: [] }),
    }),
  );
  await scene.reached('torn-down');
  if (ran.outcome === 'done') return told;
  log.warn({ leaseId: lease.id, ...ran }, 'the tear-down of a worktree failed');
  throw new FailureError('worktree-teardown-failed', {
    leaseId: lease.id,
    outcome: ran.outcome,
    ...(ran.exitCode === null ? {} : { exitCode: ran.exitCode }),
  });
}

async function keepCommits(scene: ManagedScene, lease: LeaseRow, before: readonly string[]): Promise<void> {
  const { store, git, worktrees } = scene;
  const { id, target, repository_root: root } = lease;
  const ref = await keepAbandoned({ git, worktrees, root, target }, id, Deadline.in(CHANGE_MS));
  if (ref !== null) {
    store.transact((transaction) =>
      changeLease(transaction, requireLease(transaction.sql, id), {
        recovery_refs: JSON.stringify([...before, ref]),
      }),
    );
  }
  await scene.reached('commits-kept');
}

/** What stands against the removal is its state from now on. */
function giveUp({ store, log }: ManagedScene, leaseId: LeaseId, error: unknown): void {
  const code: FailureCode = error instanceof FailureError ? error.failure.code : 'internal-error';
  log.warn({ leaseId, err: error }, 'a worktree was not removed');
  store.transact((transaction) => {
    const now = findLease(transaction.sql, leaseId);
    if (now === null || now.state === 'removed') return;
    const doubted = DOUBTS.includes(code) || now.state === 'allocating';
    tellLease(transaction, now, { kind: doubted ? 'doubted' : 'blocked', failure: code }, { cleaning: 0 });
  });
}

/** What is there and what is known do not fit together. */
const DOUBTS: readonly FailureCode[] = [
  'worktree-not-owned',
  'worktree-protected',
  'worktree-recovery-required',
];
