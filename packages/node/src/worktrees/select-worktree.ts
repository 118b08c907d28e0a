// Whether a launch in one workspace may run in a worktree of its repository instead: git is asked, not the registration believed.
import { FailureError, type Workspace, type WorkspaceId } from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import type { Store } from '../store/store.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import type { GitWorktrees, WorktreeEntry } from './git-worktrees.ts';
import type { ManagedClaims, ServiceModes } from './service-mode.ts';
import { guarded, isWithin } from './worktree-target.ts';

export interface SelectionScene {
  readonly store: Pick<Store, 'sql'>;
  readonly worktrees: Pick<GitWorktrees, 'list'>;
  readonly modes: ServiceModes;
  readonly claims: ManagedClaims;
}

/**
 * The workspace of the worktree.
 * @throws FailureError: worktree-service-mode, unknown-workspace, worktree-protected (why it is none that can be chosen), git-*.
 */
export async function selectWorktree(
  { store, worktrees, modes, claims }: SelectionScene,
  { workspaceId, worktreeId }: { readonly workspaceId: WorkspaceId; readonly worktreeId: WorkspaceId },
  deadline: Deadline,
): Promise<Workspace> {
  claims.requireUnclaimed({ workspaceId: worktreeId });
  modes.requireManual(workspaceId);
  const source = findWorkspace(store.sql, workspaceId);
  if (source === null) throw new FailureError('unknown-workspace', { workspaceId });
  const chosen = findWorkspace(store.sql, worktreeId);
  if (chosen === null) throw new FailureError('unknown-workspace', { workspaceId: worktreeId });
  requireSelectable(await worktrees.list(source.root, deadline), source.root, chosen.root);
  return chosen;
}

/** The source lies in a worktree with files; the chosen one is another than the main one, and there. */
export function requireSelectable(
  all: readonly WorktreeEntry[],
  sourceRoot: string,
  chosenRoot: string,
): void {
  const isSource = all.some((entry) => !entry.isBare && isWithin(sourceRoot, entry.path));
  const entry = all.find(({ path }) => path === chosenRoot);
  if (!isSource || entry === undefined) throw guarded('not-listed', chosenRoot);
  if (entry.isBare) throw guarded('bare-repository', chosenRoot);
  if (entry.isMain) throw guarded('main-worktree', chosenRoot);
  if (entry.prunable !== null) throw guarded('directory-gone', chosenRoot);
}
