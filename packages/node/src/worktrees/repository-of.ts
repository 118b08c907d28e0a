// The repository of a registered workspace. What stands at its root now may be another thing than was registered.
import { FailureError, type Workspace } from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import type { GitWorktrees } from './git-worktrees.ts';
import { presence } from './worktree-target.ts';

/**
 * The canonical git directory that all its worktrees share.
 * @throws FailureError: invalid-workspace-root (its directory is gone, or none any more), not-git-repository (`registeredAs` tells
 * what it was), git-*.
 */
export async function repositoryOf(
  worktrees: Pick<GitWorktrees, 'commonDirectory'>,
  { id: workspaceId, root, kind }: Pick<Workspace, 'id' | 'root' | 'kind'>,
  deadline: Deadline,
): Promise<string> {
  try {
    return await worktrees.commonDirectory(root, deadline);
  } catch (cause) {
    if (!(cause instanceof FailureError)) throw cause;
    if ((await presence(root)) !== 'directory') {
      throw new FailureError('invalid-workspace-root', { root, workspaceId }, { cause });
    }
    if (cause.failure.code !== 'not-git-repository') throw cause;
    throw new FailureError('not-git-repository', { root, workspaceId, registeredAs: kind }, { cause });
  }
}
