// Names of branches: what git takes for one, and whether it is free. A branch that is there is somebody's: never taken silently.
import { FailureError } from '@roost/protocol';
import type { Deadline } from '../spawn/deadline.ts';
import { gitFailure } from '../git/git-failure.ts';
import { refuse, type GitCalls } from './git-calls.ts';
import type { WorktreeEntry } from './worktree-list.ts';

/** Bytes: longer ones are no file names any more. */
const BRANCH_BYTES_MAX = 244;

/** @throws FailureError: invalid-request, git-*. */
export async function requireBranchName(
  git: GitCalls,
  root: string,
  branch: string,
  deadline: Deadline,
): Promise<void> {
  const isText = branch.isWellFormed() && !/\p{Cc}/u.test(branch) && !branch.startsWith('-');
  const fits = branch !== '' && branch !== 'HEAD' && Buffer.byteLength(branch) <= BRANCH_BYTES_MAX;
  if (!isText || !fits) throw refuse('that is no name of a branch');
  // As a full ref: `--branch` would expand what stands for the branch before.
  const outcome = await git.look(root, ['check-ref-format', `refs/heads/${branch}`], deadline);
  if (outcome.exitCode !== 0) throw refuse('that is no name of a branch', { branch });
}

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
