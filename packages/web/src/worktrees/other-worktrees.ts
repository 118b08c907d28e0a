// Worktrees that no lease holds: made by hand. Pure.
import type { Result, WorkspaceId, Worktree, WorktreeLease, WorktreeServiceMode } from '@roost/protocol';

/** What was listed from one workspace; workspaces of one repository list the same. */
export type WorktreeListing = Pick<Result<'worktree.list'>, 'mode' | 'worktrees'> & {
  readonly askedOf: WorkspaceId;
};

export interface OtherWorktree extends Worktree {
  /** The workspace by which git is asked about it. */
  readonly sourceWorkspaceId: WorkspaceId;
  readonly mode: WorktreeServiceMode;
}

/** Each once, by its path; without main checkouts and those of leases. */
export function otherWorktrees(
  listings: readonly WorktreeListing[],
  leases: readonly Pick<WorktreeLease, 'workspaceId'>[],
): OtherWorktree[] {
  const leased = new Set(leases.map(({ workspaceId }) => workspaceId));
  const found = new Map<string, OtherWorktree>();
  for (const { askedOf, mode, worktrees } of listings) {
    for (const worktree of worktrees) {
      const { path, isMain, isBare, workspaceId } = worktree;
      if (isMain || isBare || (workspaceId !== null && leased.has(workspaceId))) continue;
      const known = found.get(path);
      // One cannot be removed by way of itself.
      if (known === undefined || known.sourceWorkspaceId === known.workspaceId)
        found.set(path, { ...worktree, sourceWorkspaceId: askedOf, mode });
    }
  }
  return [...found.values()].toSorted((a, b) => a.path.localeCompare(b.path));
}

/** `fix-login`, or where it stands when it is on no branch. */
export function worktreeName({ branch, path }: Pick<Worktree, 'branch' | 'path'>): string {
  return branch ?? path.slice(path.lastIndexOf('/') + 1);
}
