// Whether a new branch can have its name. A branch that is there is somebody's: never taken silently.
import { FailureError } from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import type { GitCalls } from '../git/git-calls.ts';
import { gitFailure } from '../git/git-failure.ts';
import type { WorktreeEntry } from './worktree-list.ts';

/**
 * @throws FailureError: branch-exists, with what could be done instead: `adopt` (nobody holds it), `other-name`; `heldBy` is the
 * worktree that has it checked out; `conflicting` a branch with which it cannot be together.
 */
export async function requireFreeBranch(
  git: GitCalls,
  root: string,
  branch: string,
  worktrees: readonly WorktreeEntry[],
  deadline: Deadline,
): Promise<void> {
  if (await exists(git, root, branch, deadline)) {
    const holder = worktrees.find((entry) => entry.branch === branch);
    throw new FailureError(
      'branch-exists',
      holder === undefined
        ? { branch, choices: ['adopt', 'other-name'] }
        : { branch, heldBy: holder.path, choices: ['other-name'] },
    );
  }
  const parts = branch.split('/');
  for (let count = 1; count < parts.length; count += 1) {
    const above = parts.slice(0, count).join('/');
    if (await exists(git, root, above, deadline)) throw conflicting(branch, above);
  }
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', `refs/heads/${branch}/`];
  const [below = ''] = (await git.read(root, args, deadline)).toString('utf8').split('\n');
  if (below !== '') throw conflicting(branch, below.replace(/^refs\/heads\//, ''));
}

/** @throws FailureError: git-*. */
async function exists(git: GitCalls, root: string, branch: string, deadline: Deadline): Promise<boolean> {
  const outcome = await git.look(root, ['show-ref', '--verify', '--quiet', `refs/heads/${branch}`], deadline);
  if (outcome.exitCode === 0) return true;
  if (outcome.exitCode !== 1) throw gitFailure(outcome);
  return false;
}

function conflicting(branch: string, other: string): FailureError {
  return new FailureError('branch-exists', { branch, conflicting: other, choices: ['other-name'] });
}
