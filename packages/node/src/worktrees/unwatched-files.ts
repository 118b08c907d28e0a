// Files that git was told not to look at (assumed to be unchanged, left out of the working tree): its status says nothing of them.
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deadline } from '../deadline.ts';
import { inTree, type GitCalls } from '../git/git-calls.ts';

/** Files that are compared one by one; more count as changed. */
const UNWATCHED_MAX = 512;
const HASHES_BYTES_MAX = 128 * 1024;

/** As the index holds it. */
export interface Unwatched {
  readonly name: string;
  readonly mode: string;
  readonly id: string;
}

/** Those of them that are there and differ. @throws FailureError: git-*. */
export async function changedUnwatched(
  git: GitCalls,
  path: string,
  unwatched: readonly Unwatched[],
  deadline: Deadline,
): Promise<string[]> {
  const changed: string[] = [];
  const comparable: Unwatched[] = [];
  for (const one of unwatched) {
    const kind = await kindOf(join(path, one.name));
    if (kind === 'absent') continue;
    // What stands in its place, and links (whose text no command of git's compares), count as changed.
    if (kind === 'file' && one.mode.startsWith('100')) comparable.push(one);
    else changed.push(one.name);
  }
  const names = comparable.map(({ name }) => name);
  if (names.length === 0) return changed;
  if (names.length > UNWATCHED_MAX) return [...changed, ...names];
  const args = [...inTree(path), 'hash-object', '--', ...names];
  const hashed = await git.look(path, args, deadline, { bytesMax: HASHES_BYTES_MAX });
  const ids = hashed.stdout.toString('utf8').split('\n');
  // What could not be compared counts as changed.
  return [...changed, ...comparable.filter(({ id }, index) => ids[index] !== id).map(({ name }) => name)];
}

async function kindOf(path: string): Promise<'absent' | 'file' | 'other'> {
  try {
    return (await lstat(path)).isFile() ? 'file' : 'other';
  } catch {
    return 'absent';
  }
}
