// What managed worktrees own: their directories, their workspaces, and the workspaces that they were made from. Whoever is not their
// lease's own launch is refused there, in whatever way it is asked for.
import { FailureError, type LeaseId, type WorkspaceId } from '@roost/protocol';
import type { Sql } from '@roost/storage';
import type { Store } from '../store/store.ts';
import type { ManagedClaims } from '../worktrees/service-mode.ts';
import { isWithin } from '../worktrees/worktree-target.ts';
import { canBeHeld } from './lease-states.ts';
import { activeLease, listLeases, type LeaseRow } from './lease-table.ts';
import type { WorktreeProfiles } from './worktree-profiles.ts';

/** The managed worktree in which a canonical path lies. */
function leaseAround(sql: Sql, path: string): LeaseRow | null {
  return listLeases(sql, false).find(({ target }) => isWithin(path, target)) ?? null;
}

/**
 * For what people do with workspaces and worktrees by hand.
 * @throws FailureError: worktree-managed when the directory is one or lies in one, or the workspace is that of one.
 */
export function requireUnmanaged(
  sql: Sql,
  asked: { readonly directory: string | null; readonly workspaceId: string | null },
): void {
  const { directory, workspaceId } = asked;
  for (const { id, target } of listLeases(sql, false)) {
    const isItsPlace = directory !== null && isWithin(directory, target);
    if (workspaceId === id || isItsPlace) throw new FailureError('worktree-managed', { leaseId: id });
  }
}

/** @throws FailureError: worktree-managed when managed worktrees were made from that workspace. */
export function requireNoSource(sql: Sql, workspaceId: WorkspaceId): void {
  const made = listLeases(sql, false).find((lease) => lease.source_workspace_id === workspaceId);
  if (made !== undefined) throw new FailureError('worktree-managed', { leaseId: made.id });
}

/** What those who work by hand ask. */
export function managedClaims({ sql }: Pick<Store, 'sql'>, profiles: WorktreeProfiles): ManagedClaims {
  return {
    isManagedSource: (workspaceId) => {
      profiles.refresh();
      return profiles.all.some(({ profile }) => profile.sourceWorkspace === workspaceId);
    },
    requireUnclaimed: ({ workspaceId = null, root = null }) => {
      requireUnmanaged(sql, { directory: root, workspaceId });
    },
  };
}

export interface LaunchPlace {
  /** Canonical. */
  readonly directory: string;
  readonly workspaceId: WorkspaceId | null;
  /** The lease that the launch was asked for. */
  readonly leaseId: LeaseId | null;
  /** The next run of a record of that workspace. */
  readonly isResume: boolean;
}

/**
 * For launches and resumes.
 * @throws FailureError: worktree-managed, worktree-changing, worktree-recovery-required, unknown-worktree-lease.
 */
export function checkLaunchPlace(sql: Sql, { directory, workspaceId, leaseId, isResume }: LaunchPlace): void {
  const lease = (workspaceId === null ? null : activeLease(sql, workspaceId)) ?? leaseAround(sql, directory);
  if (lease === null) {
    if (leaseId !== null) throw new FailureError('unknown-worktree-lease', { leaseId });
    return;
  }
  const { id, state, cleaning } = lease;
  const isOwn = isResume && (workspaceId as string | null) === id;
  if (id !== leaseId && !isOwn) throw new FailureError('worktree-managed', { leaseId: id });
  if (cleaning === 1) throw new FailureError('worktree-changing', { leaseId: id });
  if (!canBeHeld(state)) throw new FailureError('worktree-recovery-required', { leaseId: id });
}
