// What becomes of a worktree's branch and of commits that only the worktree remembers. A branch is deleted only when another ref
// reaches everything in it; commits that nothing else reaches get a recovery ref first.
import { FailureError } from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import { lineOf, type GitCalls } from '../git/git-calls.ts';
import { gitFailure } from '../git/git-failure.ts';
import type { GitWorktrees } from '../worktrees/git-worktrees.ts';
import { gathered, UNREACHED_BY_REFS } from '../worktrees/recovery-refs.ts';

/** The commit of a branch; null when there is no such branch. @throws FailureError: git-*. */
export async function branchTip(
  git: GitCalls,
  root: string,
  branch: string,
  deadline: Deadline,
): Promise<string | null> {
  const ref = `refs/heads/${branch}`;
  const outcome = await git.look(root, ['rev-parse', '--verify', '--quiet', ref], deadline);
  if (outcome.exitCode === 0) return lineOf(outcome.stdout);
  if (outcome.exitCode !== 1) throw gitFailure(outcome);
  return null;
}

/** Deletes the branch when other lasting refs reach all of it; whether it is still there. @throws FailureError: git-*. */
export async function settleBranch(
  git: GitCalls,
  root: string,
  branch: string,
  deadline: Deadline,
): Promise<boolean> {
  const tip = await branchTip(git, root, branch, deadline);
  if (tip === null) return false;
  const own = `refs/heads/${branch}`;
  const alone = await git.read(
    root,
    ['rev-list', '--max-count=1', tip, '--not', `--exclude=${own}`, ...UNREACHED_BY_REFS, '--'],
    deadline,
  );
  if (lineOf(alone) !== '') return true;
  // Only while it is still there.
  await git.change(root, ['update-ref', '-d', own, tip], deadline);
  return (await branchTip(git, root, branch, deadline)) !== null;
}

interface KeepScene {
  readonly git: GitCalls;
  readonly worktrees: GitWorktrees;
  readonly root: string;
  readonly target: string;
}

/**
 * Commits that were made in the worktree and that no ref reaches (left behind by a reset, an amendment, a detached head) get one
 * recovery ref for all of them. null: there are none.
 * @throws FailureError: git-*.
 */
export async function keepAbandoned(
  { git, worktrees, root, target }: KeepScene,
  name: string,
  deadline: Deadline,
): Promise<string | null> {
  const tips = await worktrees.remembered(root, target, deadline);
  const [only] = tips;
  if (only === undefined) return null;
  const head = tips.length === 1 ? only : await gathered(git, root, tips, deadline);
  return worktrees.keepReachable(root, head, name, deadline);
}

/** What was refused, without what only the machine's owner may see. */
export function withoutPaths(error: unknown, leaseId: string): unknown {
  if (!(error instanceof FailureError)) return error;
  const { code, details = {} } = error.failure;
  const kept = Object.entries(details).filter(([name]) => name !== 'path' && name !== 'heldBy');
  return new FailureError(code, { ...Object.fromEntries(kept), leaseId }, { cause: error.cause });
}
