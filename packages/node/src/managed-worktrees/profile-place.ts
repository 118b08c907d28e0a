// Where worktrees of a profile may be made: in a directory that is there, that is nobody's home and no root, and that neither is, holds
// nor lies in the repository. Asked before each making, of the file system as it is then.
import { realpath, stat } from 'node:fs/promises';
import { FailureError, type WorkspaceId, type WorktreeProfile } from '@roost/protocol';
import type { Sql } from '@roost/storage';
import { isWithin } from '../worktrees/worktree-target.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';

export interface Place {
  readonly sourceWorkspaceId: WorkspaceId;
  /** Canonical root of the source workspace. */
  readonly repositoryRoot: string;
  /** Canonical. */
  readonly allocationRoot: string;
}

/** Why a profile cannot be used; each is told as a fault of its file too. */
type PlaceFault = 'unknown-workspace' | 'worktree-profile-unusable';

export type PlaceOutcome = { readonly place: Place } | { readonly code: PlaceFault; readonly reason: string };

/** `home`: the home directory of the person whose node this is. */
export async function findPlace(
  sql: Sql,
  { sourceWorkspace, targetRoot }: WorktreeProfile,
  home: string | undefined,
): Promise<PlaceOutcome> {
  const workspace = findWorkspace(sql, sourceWorkspace);
  if (workspace === null)
    return { code: 'unknown-workspace', reason: 'Its source workspace is not registered.' };
  const unusable = (reason: string): PlaceOutcome => ({ code: 'worktree-profile-unusable', reason });
  if ((await canonicalDirectory(workspace.root)) !== workspace.root) {
    return unusable('The directory of its source workspace is gone.');
  }
  const allocationRoot = await canonicalDirectory(targetRoot);
  if (allocationRoot === null) return unusable('Its target root is no directory.');
  if (/\p{Cc}/u.test(allocationRoot)) return unusable('Its target root has a name that cannot be told.');
  const canonicalHome = home === undefined ? null : await canonicalDirectory(home);
  if (allocationRoot === '/' || isWithin(canonicalHome ?? '', allocationRoot)) {
    return unusable('Its target root is or holds the home directory, or is the root of the file system.');
  }
  if (isWithin(allocationRoot, workspace.root) || isWithin(workspace.root, allocationRoot)) {
    return unusable('Its target root is, holds or lies in the repository.');
  }
  return { place: { sourceWorkspaceId: workspace.id, repositoryRoot: workspace.root, allocationRoot } };
}

/** @throws FailureError: unknown-workspace, worktree-profile-unusable. */
export function requirePlace(outcome: PlaceOutcome, profile: WorktreeProfile, profileId: string): Place {
  if ('place' in outcome) return outcome.place;
  const { code, reason } = outcome;
  throw code === 'unknown-workspace'
    ? new FailureError(code, { workspaceId: profile.sourceWorkspace })
    : new FailureError(code, { profileId, reason });
}

export async function canonicalDirectory(path: string): Promise<string | null> {
  try {
    const canonical = await realpath(path);
    return (await stat(canonical)).isDirectory() ? canonical : null;
  } catch {
    return null;
  }
}
