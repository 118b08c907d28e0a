// What a worktree holds that would be gone with it, beyond what its branch keeps: told by git, by its index, and by what lies in
// ignored directories. Nothing is changed here.
import { access, lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { FailureError } from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import type { GitCalls } from '../git/git-calls.ts';
import { gitFailure } from '../git/git-failure.ts';

/** Bytes of a status, of an index's listing: more is refused, never guessed. */
const STATUS_BYTES_MAX = 4 * 1024 * 1024;
const INDEX_BYTES_MAX = 64 * 1024 * 1024;
/** Files that git was told not to look at, which are compared one by one. */
const UNWATCHED_MAX = 512;
/** Names told in a refusal. */
const NAMES_MAX = 8;

export interface WorktreeContent {
  /** Tracked files that differ from the commit. */
  readonly changed: readonly string[];
  readonly untracked: readonly string[];
  /** Files and whole directories that are ignored. */
  readonly ignored: readonly string[];
}

/** What git says of it. @throws FailureError: git-*. worktree-dirty: more than can be told. */
export async function readContent(git: GitCalls, path: string, deadline: Deadline): Promise<WorktreeContent> {
  const outcome = await git.look(
    path,
    // Said in full, whatever the person's configuration leaves out.
    [
      'status',
      '--porcelain=v1',
      '-z',
      '--untracked-files=all',
      '--ignored=matching',
      '--ignore-submodules=none',
      '--no-renames',
    ],
    deadline,
    { bytesMax: STATUS_BYTES_MAX },
  );
  if (outcome.truncated) throw new FailureError('worktree-dirty', { path, limit: STATUS_BYTES_MAX });
  if (outcome.exitCode !== 0) throw gitFailure(outcome);
  const changed: string[] = [];
  const untracked: string[] = [];
  const ignored: string[] = [];
  for (const record of outcome.stdout.toString('utf8').split('\0')) {
    if (record === '') continue;
    const name = record.slice(3);
    if (record.startsWith('??')) untracked.push(name);
    else if (record.startsWith('!!')) ignored.push(name);
    else changed.push(name);
  }
  return { changed, untracked, ignored };
}

/**
 * Refuses a worktree that holds anything of its own.
 * `mayDiscard`: which ignored entries may go with it.
 * @throws FailureError: worktree-dirty (details: what and how much), git-*.
 */
export async function requireClean(
  git: GitCalls,
  { path, directory }: { readonly path: string; readonly directory: string },
  mayDiscard: (ignored: string) => boolean,
  deadline: Deadline,
): Promise<void> {
  const operation = await operationInProgress(directory);
  if (operation !== null) throw new FailureError('worktree-dirty', { path, operation });
  const { submodules, unwatched } = await readIndex(git, path, deadline);
  if (submodules > 0) throw new FailureError('worktree-dirty', { path, submodules });
  const content = await readContent(git, path, deadline);
  const hidden = await changedUnwatched(git, path, unwatched, deadline);
  const changed = [...content.changed, ...hidden];
  if (changed.length + content.untracked.length > 0) {
    throw new FailureError('worktree-dirty', {
      path,
      changed: changed.length,
      untracked: content.untracked.length,
      names: [...changed, ...content.untracked].slice(0, NAMES_MAX),
    });
  }
  const kept = content.ignored.filter((name) => !mayDiscard(name));
  if (kept.length > 0) {
    throw new FailureError('worktree-dirty', {
      path,
      ignored: kept.length,
      names: kept.slice(0, NAMES_MAX),
    });
  }
  for (const name of content.ignored) {
    if (await holdsRepository(join(path, name), deadline))
      throw new FailureError('worktree-dirty', { path, repositories: 1, names: [name] });
  }
}

/** What git has begun and not ended, by the marks that it leaves in its directory of the worktree. */
const OPERATIONS = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['sequencer', 'sequence'],
  ['BISECT_LOG', 'bisect'],
] as const;

async function operationInProgress(directory: string): Promise<string | null> {
  for (const [mark, operation] of OPERATIONS) {
    try {
      await access(join(directory, mark));
      return operation;
    } catch {
      // Not that one.
    }
  }
  return null;
}

interface IndexFacts {
  readonly submodules: number;
  /** Files that git was told not to look at, with the id that the index holds. */
  readonly unwatched: readonly { readonly name: string; readonly id: string }[];
}

async function readIndex(git: GitCalls, path: string, deadline: Deadline): Promise<IndexFacts> {
  const listed = await git.read(path, ['ls-files', '-v', '-s', '-z'], deadline, {
    bytesMax: INDEX_BYTES_MAX,
  });
  let submodules = 0;
  const unwatched: { name: string; id: string }[] = [];
  for (const record of listed.toString('utf8').split('\0')) {
    const match = /^(\S) (\d+) ([0-9a-f]+) \d\t([^]+)$/.exec(record);
    const [, tag = '', mode, id = '', name = ''] = match ?? [];
    if (mode === '160000') submodules += 1;
    // Lower case: assumed to be unchanged. S: left out of the working tree.
    else if (tag === 'S' || tag !== tag.toUpperCase()) unwatched.push({ name, id });
  }
  return { submodules, unwatched };
}

/** Those of them that are there and differ: git's own status says nothing of them, and would let them go. */
async function changedUnwatched(
  git: GitCalls,
  path: string,
  unwatched: IndexFacts['unwatched'],
  deadline: Deadline,
): Promise<string[]> {
  const present: { name: string; id: string }[] = [];
  for (const one of unwatched) if (await isThere(join(path, one.name))) present.push(one);
  if (present.length === 0) return [];
  const names = present.map(({ name }) => name);
  if (names.length > UNWATCHED_MAX) return names;
  const hashed = await git.look(path, ['hash-object', '--', ...names], deadline, { bytesMax: 128 * 1024 });
  const ids = hashed.stdout.toString('utf8').split('\n');
  // What could not be compared counts as changed.
  return present.filter(({ id }, index) => ids[index] !== id).map(({ name }) => name);
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

/** Whether a repository, or a worktree of another one, lies in an ignored directory. Links are not followed. */
async function holdsRepository(path: string, deadline: Deadline): Promise<boolean> {
  try {
    if (!(await lstat(path)).isDirectory()) return false;
    const stack = [path];
    for (let directory = stack.pop(); directory !== undefined; directory = stack.pop()) {
      if (deadline.hasPassed()) throw new FailureError('git-timed-out');
      for await (const entry of await opendir(directory)) {
        if (entry.name === '.git') return true;
        if (entry.isDirectory()) stack.push(join(directory, entry.name));
      }
    }
    return false;
  } catch (cause) {
    // What cannot be looked through may hold one.
    throw cause instanceof FailureError ? cause : new FailureError('git-failed', {}, { cause });
  }
}
