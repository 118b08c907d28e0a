// Looking at a managed worktree: its directory, the directory it was made in, git's list, what is not committed. Changes nothing.
import { lstat, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FailureError, type LeaseEvidence } from '@roost/protocol';
import { Deadline } from '../deadline.ts';
import { type Sql, systemErrorCode } from '@roost/storage';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { mayDiscard } from './ignored-files.ts';
import { choicesFor, judge, type LeaseFacts, type Sighting, type Verdict } from './judgement.ts';
import { commandReceipt, holdersOf, leaseView, type LeaseRow } from './lease-table.ts';
import { canonicalDirectory } from './profile-place.ts';
import { LOOK_MS, type ManagedScene } from './scene.ts';

export interface Seen {
  readonly sighting: Sighting;
  readonly verdict: Verdict;
}

/** Never throws: what cannot be looked at is unknown. */
export async function look(scene: ManagedScene, lease: LeaseRow): Promise<Seen> {
  const [directory, authority, repository, listed] = await Promise.all([
    directoryAt(lease.target),
    authorityOf(lease),
    isDirectory(lease.repository_root),
    listedAs(scene, lease),
  ]);
  const sighting: Sighting = {
    directory,
    authority,
    repository: repository ? 'present' : 'absent',
    ...listed,
  };
  return { sighting, verdict: judge(lease.branch, sighting) };
}

export async function evidenceOf(scene: ManagedScene, lease: LeaseRow): Promise<LeaseEvidence> {
  const { sql } = scene.store;
  const { sighting, verdict } = await look(scene, lease);
  const { isMain: _, ...seen } = sighting;
  return {
    lease: leaseView(lease),
    target: lease.target,
    ...seen,
    clean: verdict === 'owned' ? await isClean(scene, lease) : 'unknown',
    verdict,
    workspaceRegistered: findWorkspace(sql, lease.id) !== null,
    setup: commandReceipt(lease.setup),
    teardown: commandReceipt(lease.teardown),
    choices: choicesFor(factsOf(sql, lease), sighting, verdict),
  };
}

export function factsOf(sql: Sql, lease: LeaseRow): LeaseFacts {
  const { sessions, records } = holdersOf(sql, lease.id);
  const { state, failure, cleaning } = lease;
  return { state, failure, cleaning: cleaning === 1, held: sessions + records > 0 };
}

async function isClean(scene: ManagedScene, lease: LeaseRow): Promise<LeaseEvidence['clean']> {
  const deadline = Deadline.in(LOOK_MS);
  try {
    await scene.worktrees.requireClean(lease.repository_root, lease.target, deadline, {
      mayDiscard: mayDiscard(lease, deadline),
    });
    return 'yes';
  } catch (error) {
    return error instanceof FailureError && error.failure.code === 'worktree-dirty' ? 'no' : 'unknown';
  }
}

async function listedAs(
  { worktrees, log }: ManagedScene,
  { id: leaseId, repository_root: root, target }: LeaseRow,
): Promise<Pick<Sighting, 'git' | 'isMain'>> {
  try {
    const entry = (await worktrees.list(root, Deadline.in(LOOK_MS))).find(({ path }) => path === target);
    if (entry === undefined) return { git: { kind: 'unlisted' }, isMain: false };
    const { branch, head, locked, prunable, isMain, isBare } = entry;
    return {
      git: { kind: 'listed', branch, head, locked: locked !== null, prunable: prunable !== null },
      isMain: isMain || isBare,
    };
  } catch (error) {
    log.warn({ leaseId, err: error }, 'the worktrees of a repository cannot be listed');
    return { git: { kind: 'unknown' }, isMain: false };
  }
}

/** The directory that it was made in is still that directory, and it lies directly in it. */
async function authorityOf({ id, target, allocation_root: root }: LeaseRow): Promise<Sighting['authority']> {
  const isPlaced = target === join(root, id) && dirname(target) === root;
  return isPlaced && (await canonicalDirectory(root)) === root ? 'held' : 'lost';
}

async function directoryAt(path: string): Promise<Sighting['directory']> {
  try {
    return (await lstat(path)).isDirectory() ? 'present' : 'not-a-directory';
  } catch (error) {
    return systemErrorCode(error) === 'ENOENT' ? 'absent' : 'unknown';
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
