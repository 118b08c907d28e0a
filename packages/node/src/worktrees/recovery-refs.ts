// Refs that keep commits which nothing else would keep once a worktree is gone. Made before the removal, never moved, never
// deleted: what to do with them is the person's choice.
import { FailureError } from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import { lineOf, type GitCalls } from '../git/git-calls.ts';
import { gitFailure } from '../git/git-failure.ts';

const PREFIX = 'refs/roost/recovered/';
/** Names tried before it is given up. */
const NAMES_MAX = 100;

/**
 * Refs that outlast a worktree: all but those of one worktree alone, and the stash, whose entries are dropped as a matter of
 * course. HEADs do not count: that of the worktree itself is about to go, others move on.
 */
export const UNREACHED_BY_REFS = [
  '--exclude=refs/bisect/*',
  '--exclude=refs/worktree/*',
  '--exclude=refs/rewritten/*',
  '--exclude=refs/stash',
  '--glob=refs/*',
];

/** The ref that keeps `head`; null when lasting refs reach it anyway. @throws FailureError: git-*. */
export async function keepUnderRecoveryRef(
  git: GitCalls,
  root: string,
  { head, name }: { readonly head: string; readonly name: string },
  deadline: Deadline,
): Promise<string | null> {
  const unreached = ['rev-list', '--max-count=1', head, '--not', ...UNREACHED_BY_REFS, '--'];
  if (lineOf(await git.read(root, unreached, deadline)) === '') return null;
  const stem = `${PREFIX}${refName(name)}`;
  for (let number = 1; number <= NAMES_MAX; number += 1) {
    const ref = number === 1 ? stem : `${stem}-${number}`;
    // Only where none is: the zeros stand for that.
    const args = ['update-ref', '--create-reflog', '-m', 'roost: worktree removed', ref, head];
    const outcome = await git.change(root, [...args, '0'.repeat(head.length)], deadline);
    const there = await git.look(root, ['rev-parse', '--verify', '--quiet', ref], deadline);
    if (there.exitCode === 0 && lineOf(there.stdout) === head) return ref;
    if (there.exitCode !== 0) throw gitFailure(outcome);
  }
  throw new FailureError('git-failed');
}

/** One commit above all of them, so that one ref keeps them. @throws FailureError: git-*. */
export async function gathered(
  git: GitCalls,
  root: string,
  tips: readonly string[],
  deadline: Deadline,
): Promise<string> {
  const [first = ''] = tips;
  const message = 'Commits of a removed worktree that nothing else reached: the parents of this one';
  const outcome = await git.change(
    root,
    [
      '-c',
      'user.name=roost',
      '-c',
      'user.email=roost@localhost',
      'commit-tree',
      '-m',
      message,
      ...tips.flatMap((tip) => ['-p', tip]),
      `${first}^{tree}`,
    ],
    deadline,
  );
  if (outcome.exitCode !== 0) throw gitFailure(outcome);
  return lineOf(outcome.stdout);
}

/** In the alphabet of refs, without what has a meaning there. */
function refName(name: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[.-]+|[.-]+$/g, '')
    .slice(0, 100)
    .replace(/(\.lock)+$/, '');
  return plain === '' ? 'worktree' : plain;
}
