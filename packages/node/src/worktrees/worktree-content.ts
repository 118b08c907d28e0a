// What a worktree holds that would be gone with it, beyond what its branch keeps: told by git, by its index, and by what lies in
// ignored directories. Nothing is changed here.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { FailureError } from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import { inTree, type GitCalls } from '../git/git-calls.ts';
import { gitFailure } from '../git/git-failure.ts';
import { requireNothingForeign } from './foreign-content.ts';
import { changedUnwatched, type Unwatched } from './unwatched-files.ts';

/** Bytes of a status, of an index's listing: more is refused, never guessed. */
const STATUS_BYTES_MAX = 4 * 1024 * 1024;
const INDEX_BYTES_MAX = 64 * 1024 * 1024;
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
      ...inTree(path),
      // A file of the same size whose time was set back differs nevertheless.
      '-c',
      'core.trustctime=true',
      '-c',
      'core.checkStat=default',
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
  mayDiscard: (ignored: string) => boolean | Promise<boolean>,
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
  const kept: string[] = [];
  for (const name of content.ignored) if (!(await mayDiscard(name))) kept.push(name);
  if (kept.length > 0) {
    throw new FailureError('worktree-dirty', {
      path,
      ignored: kept.length,
      names: kept.slice(0, NAMES_MAX),
    });
  }
  await requireNothingForeign(path, deadline);
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
  ['NOTES_MERGE_WORKTREE', 'merge of notes'],
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
  readonly unwatched: readonly Unwatched[];
}

async function readIndex(git: GitCalls, path: string, deadline: Deadline): Promise<IndexFacts> {
  const listed = await git.read(path, [...inTree(path), 'ls-files', '-v', '-s', '-z'], deadline, {
    bytesMax: INDEX_BYTES_MAX,
  });
  let submodules = 0;
  const unwatched: Unwatched[] = [];
  for (const record of listed.toString('utf8').split('\0')) {
    const match = /^(\S) (\d+) ([0-9a-f]+) \d\t([^]+)$/.exec(record);
    const [, tag = '', mode = '', id = '', name = ''] = match ?? [];
    if (mode === '160000') submodules += 1;
    // Lower case: assumed to be unchanged. S: left out of the working tree.
    else if (tag === 'S' || tag !== tag.toUpperCase()) unwatched.push({ name, mode, id });
  }
  return { submodules, unwatched };
}
