// Making a managed worktree, step by step: the row, git's worktree, copies, set-up, readiness with its workspace. Each step is stored
// before the next begins, so a start of the node knows how far it came. What fails is taken back as far as its absence can be
// proven; everything else is left for a person.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  FailureError,
  LeaseId,
  type CommandReceipt,
  type IdempotencyKey,
  type PortBlock,
  type ProfileId,
  type Revision,
} from '@roost/protocol';
import { Deadline } from '../deadline.ts';
import type { Transaction } from '../store/store.ts';
import { findWorkspace, registerWorkspace } from '../workspaces/workspaces.ts';
import { branchFor } from './branch-template.ts';
import { branchTip, settleBranch, withoutPaths } from './branches.ts';
import { cleanUp } from './cleanup.ts';
import { copyIgnored } from './copy-ignored.ts';
import { look } from './evidence.ts';
import { madeIn } from './ignored-files.ts';
import {
  changeLease,
  commandReceipt,
  deleteLease,
  findLease,
  insertLease,
  listLeases,
  profileOf,
  requireLease,
  tellLease,
  workspaceOf,
  type LeaseRow,
} from './lease-table.ts';
import { findPortBlock, overlaps } from './port-blocks.ts';
import { findPlace, requirePlace, type Place } from './profile-place.ts';
import { runCommands } from './run-commands.ts';
import { alone, CHANGE_MS, LOOK_MS, type ManagedScene } from './scene.ts';
import type { NamedWorktreeProfile } from './worktree-profiles.ts';

export interface AllocationRequest {
  readonly profileId: ProfileId;
  readonly expectedRevision: Revision;
  readonly name: string | null;
  readonly branch: string | null;
}

/** The request that it is made for. */
export interface AllocationCause {
  readonly origin: LeaseRow['origin'];
  readonly key: IdempotencyKey;
  readonly digest: string;
}

/**
 * The row, durable, before anything else of the worktree is there. Its lock is the caller's from the next turn of the event loop on.
 * @throws FailureError: unknown-worktree-profile, worktree-profile-*, unknown-workspace, invalid-revision, worktrees-exhausted,
 * worktree-ports-exhausted, branch-exists, not-git-repository, git-*.
 */
export async function reserveLease(
  scene: ManagedScene,
  request: AllocationRequest,
  cause: AllocationCause,
): Promise<LeaseRow> {
  const { store, profiles, worktrees, git, source, locks, ports } = scene;
  const named = profiles.find(request.profileId);
  const { id: profileId, revision, profile } = named;
  if (revision !== request.expectedRevision) {
    throw new FailureError('worktree-profile-revision-mismatch', { profileId, revision });
  }
  const mode = scene.modes.of(profile.sourceWorkspace);
  if (mode !== 'managed') {
    throw new FailureError('worktree-service-mode', { workspaceId: profile.sourceWorkspace, mode });
  }
  const place = requirePlace(
    await findPlace(store.sql, profile, source.environment.HOME),
    profile,
    profileId,
  );
  const id = freeId(store.sql);
  const branch = branchFor(profile, id, request);
  const deadline = Deadline.in(LOOK_MS);
  const root = place.repositoryRoot;
  const commit = await worktrees.resolveCommit(
    root,
    profile.base === 'head' ? 'HEAD' : profile.base,
    deadline,
  );
  // Asked for again when it is made. What comes to be in between at this very commit is taken for ours when the making fails.
  if ((await branchTip(git, root, branch, deadline)) !== null) {
    throw new FailureError('branch-exists', { branch, choices: ['other-name'] });
  }
  const release = await locks.acquire([{ key: 'ports' }]);
  try {
    const taken = portsOf(listLeases(store.sql, false));
    const block = profile.ports === undefined ? null : await findPortBlock(ports, profile.ports.count, taken);
    const lease = store.transact((transaction) => {
      checkFree(transaction, { id, branch, place, block });
      return insertLease(transaction, newRow({ id, named, place, branch, commit, block, cause }));
    });
    await scene.reached('lease-reserved');
    return lease;
  } finally {
    release();
  }
}

/**
 * The worktree of a reserved row, ready for sessions, with its workspace.
 * @throws FailureError: those of `git worktree add`; worktree-setup-failed; worktree-recovery-required; shutting-down.
 */
export async function makeWorktree(scene: ManagedScene, reserved: LeaseRow): Promise<LeaseRow> {
  const { store, worktrees } = scene;
  let lease = reserved;
  try {
    const { repository_root: root, target, branch, base_commit: commit } = lease;
    await alone(scene, root, () =>
      worktrees.add(root, target, { create: branch, commit }, Deadline.in(CHANGE_MS)),
    );
    lease = store.transact((transaction) =>
      changeLease(transaction, requireLease(transaction.sql, lease.id), { head: commit }),
    );
    await scene.reached('worktree-added');
  } catch (error) {
    throw withoutPaths(await takeBack(scene, lease, error), lease.id);
  }
  return finishWorktree(scene, lease);
}

/** The steps after git's: also for one that a crash cut off there. */
export async function finishWorktree(scene: ManagedScene, made: LeaseRow): Promise<LeaseRow> {
  const { store, signal } = scene;
  let lease = made;
  if (lease.setup === null) {
    const receipt = await setUp(scene, lease);
    if (signal.aborted) throw new FailureError('shutting-down');
    const made = JSON.stringify(await madeIn(scene, lease));
    lease = store.transact((transaction) => {
      const now = requireLease(transaction.sql, lease.id);
      const change = { setup: JSON.stringify(receipt), made };
      if (receipt.outcome === 'done') return changeLease(transaction, now, change);
      // It is answered: the key is free, and what was made is for a person to look at.
      const freed = now.origin === 'spawn' ? { idempotency_key: null } : {};
      return tellLease(
        transaction,
        now,
        { kind: 'doubted', failure: 'worktree-setup-failed' },
        { ...change, ...freed },
      );
    });
    await scene.reached('set-up-done');
  }
  const setup = commandReceipt(lease.setup);
  if (setup?.outcome !== 'done') throw setupFailed(lease, setup);
  lease = store.transact((transaction) => {
    const now = requireLease(transaction.sql, lease.id);
    registerTarget(transaction, now);
    return tellLease(transaction, now, { kind: 'prepared' });
  });
  await scene.reached('lease-ready');
  return lease;
}

/** Part of a transaction. @throws FailureError: workspaces-exhausted. */
export function registerTarget(transaction: Transaction, lease: LeaseRow): void {
  if (findWorkspace(transaction.sql, lease.id) !== null) return;
  registerWorkspace(transaction, { directory: lease.target, gitRoot: lease.target }, workspaceOf(lease));
}

function setupFailed(lease: LeaseRow, setup: CommandReceipt | null): FailureError {
  return new FailureError('worktree-setup-failed', {
    leaseId: lease.id,
    outcome: setup?.outcome ?? 'failed',
    ...(setup?.exitCode === undefined || setup.exitCode === null ? {} : { exitCode: setup.exitCode }),
  });
}

async function setUp(scene: ManagedScene, lease: LeaseRow): Promise<CommandReceipt> {
  const { source, home, signal } = scene;
  const profile = profileOf(lease);
  const notCopied = await copyIgnored({
    git: source,
    from: lease.repository_root,
    to: lease.target,
    paths: profile.copy,
    signal,
  });
  await scene.reached('files-copied');
  const ran = await runCommands({ environment: source.environment, home, signal }, lease, profile.setup);
  if (ran.outcome !== 'done') {
    scene.log.warn({ leaseId: lease.id, ...ran }, 'the set-up of a worktree failed');
  }
  return { ...ran, notCopied };
}

/**
 * After git refused or failed: what is there decides. Absent, the row goes, and its key is free again; whole, it is removed as any
 * other; anything else is for a person. Answers the failure that the caller gets.
 */
async function takeBack(scene: ManagedScene, lease: LeaseRow, error: unknown): Promise<unknown> {
  const { store, log, signal, worktrees } = scene;
  if (signal.aborted) return new FailureError('shutting-down', {}, { cause: error });
  const { verdict } = await look(scene, lease);
  switch (verdict) {
    case 'absent':
      await dropUnborn(scene, lease);
      return error;
    case 'directory-gone':
      try {
        await worktrees.forget(lease.repository_root, lease.target, Deadline.in(LOOK_MS));
        await dropUnborn(scene, lease);
        return error;
      } catch (cause) {
        log.warn({ leaseId: lease.id, err: cause }, 'what git kept of a failed worktree stays');
        break;
      }
    case 'owned':
      try {
        await cleanUp(scene, lease.id, 'explicit');
        return error;
      } catch (cause) {
        log.warn({ leaseId: lease.id, err: cause }, 'a worktree that was not wanted any more stays');
        break;
      }
    case 'not-ours':
    case 'unknown':
      break;
  }
  store.transact((transaction) => {
    const now = findLease(transaction.sql, lease.id);
    if (now?.state !== 'allocating') return;
    const freed = now.origin === 'spawn' ? { idempotency_key: null } : {};
    tellLease(transaction, now, { kind: 'doubted', failure: 'worktree-not-owned' }, freed);
  });
  return new FailureError('worktree-recovery-required', { leaseId: lease.id }, { cause: error });
}

/** Nothing of it is there, but perhaps the branch that git made first. */
export async function dropUnborn(scene: ManagedScene, lease: LeaseRow): Promise<void> {
  const { store, git, log } = scene;
  const deadline = Deadline.in(LOOK_MS);
  try {
    const tip = await branchTip(git, lease.repository_root, lease.branch, deadline);
    if (tip === lease.base_commit) await settleBranch(git, lease.repository_root, lease.branch, deadline);
  } catch (error) {
    log.warn({ leaseId: lease.id, err: error }, 'the branch of a worktree that was not made may be left');
  }
  store.transact((transaction) => {
    const now = findLease(transaction.sql, lease.id);
    if (now !== null) deleteLease(transaction, now);
  });
}

function freeId(sql: ManagedScene['store']['sql']): LeaseId {
  for (;;) {
    const id = LeaseId.parse(`wt-${randomBytes(8).toString('hex')}`);
    if (findLease(sql, id) === null && findWorkspace(sql, id) === null) return id;
  }
}

function portsOf(leases: readonly LeaseRow[]): PortBlock[] {
  return leases.flatMap(({ port_base: base, port_count: count }) =>
    base === null || count === null ? [] : [{ base, count }],
  );
}

/** What was free when it was looked for may not be any more. */
function checkFree(
  { sql }: Transaction,
  wanted: { id: LeaseId; branch: string; place: Place; block: PortBlock | null },
): void {
  const { branch, place, block } = wanted;
  const others = listLeases(sql, false);
  const isSame = others.some((one) => one.repository_root === place.repositoryRoot && one.branch === branch);
  if (isSame) throw new FailureError('branch-exists', { branch, choices: ['other-name'] });
  if (findWorkspace(sql, place.sourceWorkspaceId) === null) {
    throw new FailureError('unknown-workspace', { workspaceId: place.sourceWorkspaceId });
  }
  if (block !== null && portsOf(others).some((one) => overlaps(one, block))) {
    throw new Error('ports are given one after the other');
  }
}

function newRow(made: {
  id: LeaseId;
  named: NamedWorktreeProfile;
  place: Place;
  branch: string;
  commit: string;
  block: PortBlock | null;
  cause: AllocationCause;
}): LeaseRow {
  const { id, named, place, branch, commit, block, cause } = made;
  const now = Date.now();
  return {
    id,
    source_workspace_id: place.sourceWorkspaceId,
    repository_root: place.repositoryRoot,
    allocation_root: place.allocationRoot,
    target: join(place.allocationRoot, id),
    profile_id: named.id,
    profile_revision: named.revision,
    profile: JSON.stringify(named.profile),
    branch,
    base_commit: commit,
    head: null,
    state: 'allocating',
    failure: null,
    origin: cause.origin,
    reserved: cause.origin === 'allocate' ? 1 : 0,
    made: '[]',
    idempotency_key: cause.key,
    digest: cause.digest,
    port_base: block?.base ?? null,
    port_count: block?.count ?? null,
    setup: null,
    teardown: null,
    cleaning: 0,
    sessions: 0,
    records: 0,
    recovery_refs: '[]',
    outcome: null,
    branch_kept: null,
    created_at: now,
    updated_at: now,
  };
}
