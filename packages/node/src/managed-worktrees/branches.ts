// What becomes of a worktree's branch and of commits that only the worktree remembers. A branch is deleted only when another ref
// reaches everything in it; commits that nothing else reaches get a recovery ref first.
import { FailureError } from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import { lineOf, type GitCalls } from '../git/git-calls.ts';
import { gitFailure } from '../git/git-failure.ts';
import type { GitWorktrees } from '../worktrees/git-worktrees.ts';
import { UNREACHED_BY_REFS } from '../worktrees/recovery-refs.ts';
import { findAdministrativeDirectory } from '../worktrees/worktree-target.ts';

/** Entries of the worktree's reflog that are looked at, the newest ones. */
const REFLOG_MAX = 1_000;
/** Commits looked at that no ref reaches; more are kept all the same, by their tips among these. */
const UNREACHED_MAX = 10_000;
const COMMIT_LINE_BYTES = 66;

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
  const common = await worktrees.commonDirectory(root, deadline);
  const directory = await findAdministrativeDirectory(target, common);
  if (directory === null) return null;
  const seen = await git.look(
    root,
    [`--git-dir=${directory}`, 'log', '-g', `--max-count=${REFLOG_MAX}`, '--format=%H', 'HEAD', '--'],
    deadline,
    { bytesMax: REFLOG_MAX * COMMIT_LINE_BYTES },
  );
  // Without a reflog nothing is remembered that could be lost.
  if (seen.exitCode !== 0) return null;
  const commits = [...new Set(linesOf(seen.stdout))];
  if (commits.length === 0) return null;
  const unreached = await git.read(
    root,
    [
      'rev-list',
      '--parents',
      `--max-count=${UNREACHED_MAX}`,
      ...commits,
      '--not',
      ...UNREACHED_BY_REFS,
      '--',
    ],
    deadline,
    { bytesMax: UNREACHED_MAX * COMMIT_LINE_BYTES * 3 },
  );
  const families = linesOf(unreached).map((line) => line.split(' '));
  const parents = new Set(families.flatMap(([, ...above]) => above));
  const tips = families.flatMap(([commit]) => (commit === undefined || parents.has(commit) ? [] : [commit]));
  const [only] = tips;
  if (only === undefined) return null;
  const head = tips.length === 1 ? only : await gathered(git, root, tips, deadline);
  return worktrees.keepReachable(root, head, name, deadline);
}

/** One commit above all of them, so that one ref keeps them. */
async function gathered(
  git: GitCalls,
  root: string,
  tips: readonly string[],
  deadline: Deadline,
): Promise<string> {
  const [first = ''] = tips;
  const outcome = await git.change(
    root,
    [
      '-c',
      'user.name=roost',
      '-c',
      'user.email=roost@localhost',
      'commit-tree',
      '-m',
      'Commits of a removed worktree that nothing else reached: the parents of this one',
      ...tips.flatMap((tip) => ['-p', tip]),
      `${first}^{tree}`,
    ],
    deadline,
  );
  if (outcome.exitCode !== 0) throw gitFailure(outcome);
  return lineOf(outcome.stdout);
}

function linesOf(bytes: Buffer): string[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
}

/** What was refused, without what only the machine's owner may see. */
export function withoutPaths(error: unknown, leaseId: string): unknown {
  if (!(error instanceof FailureError)) return error;
  const { code, details = {} } = error.failure;
  const kept = Object.entries(details).filter(([name]) => name !== 'path' && name !== 'heldBy');
  return new FailureError(code, { ...Object.fromEntries(kept), leaseId }, { cause: error.cause });
}
