// Whether a path may become a worktree or stop being one, told by the file system: canonical parents, links never followed at the
// end, and the two pointers by which a worktree and its repository know each other.
import { lstat, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize, resolve, sep } from 'node:path';
import { FailureError } from '@roost/protocol';
import { systemErrorCode } from '@roost/storage';
import { WORKTREE_PATH_BYTES_MAX, WORKTREES_MAX, type WorktreeEntry } from './worktree-list.ts';

/** Bytes of a file that holds one path. */
const POINTER_BYTES_MAX = WORKTREE_PATH_BYTES_MAX + 64;

/** Whether one directory is the other, or lies in it. Both canonical. */
export function isWithin(path: string, around: string): boolean {
  return path === around || path.startsWith(around.endsWith(sep) ? around : around + sep);
}

/**
 * The path with its parent's links resolved and its own name as it is, so that a link at its place is seen, never followed.
 * @throws FailureError: invalid-request. null: it has no parent directory.
 */
export async function canonicalTarget(target: string): Promise<string | null> {
  const isPath = isAbsolute(target) && target.isWellFormed() && !target.includes('\0');
  if (!isPath || Buffer.byteLength(target) > WORKTREE_PATH_BYTES_MAX)
    throw refuse('the path must be absolute and within its bounds');
  if (target.split(sep).some((part) => part === '..')) throw refuse('the path must be without ..');
  const plain = normalize(target).replace(/(?<=.)\/+$/, '');
  if (plain === sep) return sep;
  try {
    const parent = await realpath(dirname(plain));
    return (await stat(parent)).isDirectory() ? join(parent, basename(plain)) : null;
  } catch {
    return null;
  }
}

function refuse(reason: string): FailureError {
  return new FailureError('invalid-request', { reason });
}

export type Presence = 'absent' | 'directory' | 'other';

/** What stands at a path itself. @throws FailureError: git-failed when that cannot be known. */
export async function presence(path: string): Promise<Presence> {
  try {
    return (await lstat(path)).isDirectory() ? 'directory' : 'other';
  } catch (cause) {
    const code = systemErrorCode(cause);
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent';
    throw new FailureError('git-failed', {}, { cause });
  }
}

/**
 * Refuses what must not be removed whatever git says: the main checkout, a root, the person's home, or what contains one of them
 * or another worktree. @throws FailureError: worktree-protected.
 */
export async function requireRemovable(
  entry: WorktreeEntry,
  all: readonly WorktreeEntry[],
  home: string | null,
): Promise<void> {
  const { path } = entry;
  if (entry.isBare) throw guarded('bare-repository', path);
  if (entry.isMain) throw guarded('main-worktree', path);
  const main = all.find(({ isMain }) => isMain)?.path;
  const dangerous = path === sep || (main !== undefined && isWithin(main, path));
  if (dangerous || (home !== null && (await liesIn(home, path)))) throw guarded('holds-more', path);
}

/** By either of its names: a home is often reached over a link. */
async function liesIn(home: string, path: string): Promise<boolean> {
  if (isWithin(normalize(home), path)) return true;
  try {
    return isWithin(await realpath(home), path);
  } catch {
    return false;
  }
}

/** @throws FailureError: worktree-protected. */
export function requireNothingInside(entry: WorktreeEntry, all: readonly WorktreeEntry[]): void {
  const inside = all.find((other) => other !== entry && isWithin(other.path, entry.path));
  if (inside !== undefined) throw guarded('contains-worktree', entry.path);
}

export function guarded(why: string, path: string): FailureError {
  return new FailureError('worktree-protected', { path, why });
}

/**
 * The repository's own directory for a worktree (`<common>/worktrees/<id>`), proven in both directions: `.git` in the worktree
 * names it, and it names that `.git`. null: what stands there is another thing than the repository's worktree.
 */
export async function administrativeDirectory(path: string, commonDirectory: string): Promise<string | null> {
  try {
    if ((await realpath(path)) !== path || (await presence(path)) !== 'directory') return null;
    const dotGit = join(path, '.git');
    if (!(await lstat(dotGit)).isFile()) return null;
    const match = /^gitdir: ([^]+?)\n?$/.exec(await readPointer(dotGit));
    if (match?.[1] === undefined) return null;
    const directory = await realpath(resolve(path, match[1]));
    if (dirname(directory) !== join(commonDirectory, 'worktrees')) return null;
    const back = (await readPointer(join(directory, 'gitdir'))).replace(/\n$/, '');
    return (await realpath(resolve(directory, back))) === dotGit ? directory : null;
  } catch {
    return null;
  }
}

/** The repository's own directory for the path, found by what it says itself; null when it has none. */
export async function findAdministrativeDirectory(
  path: string,
  commonDirectory: string,
): Promise<string | null> {
  const all = join(commonDirectory, 'worktrees');
  let names: string[];
  try {
    names = await readdir(all);
  } catch {
    return null;
  }
  for (const name of names.slice(0, WORKTREES_MAX)) {
    try {
      const directory = join(all, name);
      const back = (await readPointer(join(directory, 'gitdir'))).replace(/\n$/, '');
      if (resolve(directory, back) === join(path, '.git')) return directory;
    } catch {
      // None of ours, or half of one.
    }
  }
  return null;
}

/** Whether the repository's own directory for the path holds repositories of submodules. @throws FailureError: git-failed. */
export async function holdsSubmodules(path: string, commonDirectory: string): Promise<boolean> {
  const directory = await findAdministrativeDirectory(path, commonDirectory);
  if (directory === null) return false;
  try {
    return (await readdir(join(directory, 'modules'))).length > 0;
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT') return false;
    throw new FailureError('git-failed', {}, { cause });
  }
}

/** Writes a missing `.git` of a worktree anew; one that is there stays as it is. */
export async function restorePointer(path: string, commonDirectory: string): Promise<void> {
  const directory = await findAdministrativeDirectory(path, commonDirectory);
  if (directory === null) return;
  try {
    await writeFile(join(path, '.git'), `gitdir: ${directory}\n`, { flag: 'wx' });
  } catch (cause) {
    if (systemErrorCode(cause) !== 'EEXIST') throw new FailureError('git-failed', {}, { cause });
  }
}

async function readPointer(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > POINTER_BYTES_MAX) throw new Error('it holds more than a path');
  return readFile(path, 'utf8');
}
