// Commits that only the log of a worktree's head knows, such as work on a detached head that was left: git deletes that log with
// the worktree. What the branch's own log holds (amended commits, what a rebase replaced) stays with the branch.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deadline } from '../deadline.ts';
import type { GitCalls } from '../git/git-calls.ts';
import { UNREACHED_BY_REFS } from './recovery-refs.ts';
import type { WorktreeEntry } from './worktree-list.ts';
import { findAdministrativeDirectory } from './worktree-target.ts';

/** Bytes read of a log, from its end; entries told of it. */
const LOG_BYTES_MAX = 256 * 1024;
const COMMITS_MAX = 256;

/** The newest commits of it from which the others are reached; @throws FailureError: git-*. */
export async function loggedTips(
  git: GitCalls,
  root: string,
  { entry, common }: { readonly entry: WorktreeEntry; readonly common: string },
  deadline: Deadline,
): Promise<string[]> {
  const directory = await findAdministrativeDirectory(entry.path, common);
  if (directory === null) return [];
  const logged = await readLog(join(directory, 'logs', 'HEAD'));
  if (entry.head !== null) logged.delete(entry.head);
  if (entry.branch !== null) {
    for (const id of await readLog(join(common, 'logs', 'refs', 'heads', entry.branch))) logged.delete(id);
  }
  const known = [...logged].slice(-COMMITS_MAX);
  if (known.length === 0) return [];
  const heads = entry.head === null ? [] : [entry.head];
  const args = [
    'rev-list',
    // Old ones may be collected already.
    '--ignore-missing',
    '--topo-order',
    '--parents',
    ...known,
    '--not',
    ...heads,
    ...UNREACHED_BY_REFS,
    '--',
  ];
  const listed = await git.read(root, args, deadline, { bytesMax: 1024 * 1024 });
  const parents = new Set<string>();
  const unreached: string[] = [];
  for (const line of listed.toString('utf8').split('\n')) {
    const [id = '', ...above] = line.split(' ');
    if (id !== '') unreached.push(id);
    for (const parent of above) parents.add(parent);
  }
  return unreached.filter((id) => !parents.has(id));
}

/** Ids that a log says the ref came to, the oldest first; none when there is no log. */
async function readLog(path: string): Promise<Set<string>> {
  let file;
  try {
    file = await open(path, 'r');
  } catch {
    return new Set();
  }
  try {
    const { size } = await file.stat();
    const length = Math.min(size, LOG_BYTES_MAX);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    const lines = buffer.subarray(0, bytesRead).toString('latin1').split('\n');
    const ids = lines.map((line) => /^[0-9a-f]{40,64} ([0-9a-f]{40,64}) /.exec(line)?.[1] ?? '');
    return new Set(ids.filter((id) => id !== '' && !/^0+$/.test(id)));
  } finally {
    await file.close();
  }
}
