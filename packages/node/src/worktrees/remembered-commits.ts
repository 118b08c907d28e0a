// Commits that only a worktree remembers: in the log of its head (work on a detached head that was left), under refs of its own, in
// what an unfinished operation put aside. Git deletes all of that with the worktree. What the branch's own log holds (amended
// commits, what a rebase replaced) stays with the branch.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FailureError } from '@roost/protocol';
import { systemErrorCode } from '@roost/storage';
import type { Deadline } from '../deadline.ts';
import type { GitCalls } from '../git/git-calls.ts';
import { UNREACHED_BY_REFS } from './recovery-refs.ts';
import type { WorktreeEntry } from './worktree-list.ts';
import { findAdministrativeDirectory } from './worktree-target.ts';

/** Bytes of a log, of which every entry counts; a longer one is refused, never cut. */
const LOG_BYTES_MAX = 64 * 1024 * 1024;
/** Ids in one question to git: what the arguments of a program may take, with room left. */
const IDS_AT_ONCE = 8_000;
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
/** Files with one id each, in the repository's own directory for the worktree. */
const SINGLE_IDS = [
  'HEAD',
  'ORIG_HEAD',
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'MERGE_AUTOSTASH',
  'rebase-merge/autostash',
  'rebase-merge/orig-head',
  'rebase-apply/autostash',
  'rebase-apply/orig-head',
];

/**
 * Those of them that lasting refs and `head` do not reach, without those from which the others are reached. `branch`: what its log
 * holds does not count. @throws FailureError: git-*.
 */
export async function rememberedTips(
  git: GitCalls,
  root: string,
  {
    path,
    head,
    branch,
    common,
  }: Pick<WorktreeEntry, 'path' | 'head' | 'branch'> & { readonly common: string },
  deadline: Deadline,
): Promise<string[]> {
  const directory = await findAdministrativeDirectory(path, common);
  if (directory === null) return [];
  const known = await loggedIds(join(directory, 'logs', 'HEAD'));
  for (const file of [...SINGLE_IDS, ...(await filesBelow(directory, 'refs'))]) {
    const id = (await textOf(join(directory, file))).trim();
    if (/^[0-9a-f]{40,64}$/.test(id)) known.add(id);
  }
  if (branch !== null) {
    for (const id of await loggedIds(join(common, 'logs', 'refs', 'heads', branch))) known.delete(id);
  }
  if (head !== null) known.delete(head);
  const all = [...known];
  const parents = new Set<string>();
  const unreached = new Set<string>();
  for (let from = 0; from < all.length; from += IDS_AT_ONCE) {
    const ids = all.slice(from, from + IDS_AT_ONCE);
    // Old ones may be collected already.
    const args = [
      '-c',
      'core.warnAmbiguousRefs=false',
      'rev-list',
      '--ignore-missing',
      '--topo-order',
      '--parents',
      ...ids,
    ];
    const without = ['--not', ...(head === null ? [] : [head]), ...UNREACHED_BY_REFS, '--'];
    const listed = await git.read(root, [...args, ...without], deadline, { bytesMax: ANSWER_BYTES_MAX });
    for (const line of listed.toString('utf8').split('\n')) {
      const [id = '', ...above] = line.split(' ');
      if (id !== '') unreached.add(id);
      for (const parent of above) parents.add(parent);
    }
  }
  return [...unreached].filter((id) => !parents.has(id));
}

/** Ids that a log says the ref came from or to; none when there is no log. */
async function loggedIds(path: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const line of (await textOf(path)).split('\n')) {
    const [, from = '', to = ''] = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) /.exec(line) ?? [];
    for (const id of [from, to]) if (!/^0*$/.test(id)) ids.add(id);
  }
  return ids;
}

/** '' for what is no file. @throws FailureError: git-failed for what cannot be read, or is too long. */
async function textOf(path: string): Promise<string> {
  try {
    const facts = await stat(path);
    if (!facts.isFile()) return '';
    if (facts.size > LOG_BYTES_MAX) throw new FailureError('git-failed');
    return await readFile(path, 'latin1');
  } catch (cause) {
    if (isAbsent(cause)) return '';
    throw cause instanceof FailureError ? cause : new FailureError('git-failed', {}, { cause });
  }
}

async function filesBelow(directory: string, name: string): Promise<string[]> {
  try {
    const entries = await readdir(join(directory, name), { withFileTypes: true });
    const files: string[] = [];
    for (const entry of entries) {
      const below = join(name, entry.name);
      if (entry.isDirectory()) files.push(...(await filesBelow(directory, below)));
      else files.push(below);
    }
    return files;
  } catch (cause) {
    if (isAbsent(cause)) return [];
    throw cause instanceof FailureError ? cause : new FailureError('git-failed', {}, { cause });
  }
}

function isAbsent(cause: unknown): boolean {
  const code = systemErrorCode(cause);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
