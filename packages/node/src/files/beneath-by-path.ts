// The walk where descriptors have no names (macOS): every directory on the way is looked at without following links, and looked at
// again before and after each use. Weaker than the walk by descriptor: somebody who swaps a directory for a link and back between
// two looks is not seen (docs/decisions/017-files.md).
import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, realpath, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { identityOf, type FileAccess, type ParentDirectory, type RegularFile } from './parent-directory.ts';
import { faultOf, PathFault, type PathFaultKind } from './path-fault.ts';

const ROOT_MEANING = { ENOENT: 'root-gone', ENOTDIR: 'root-gone', EACCES: 'root-gone' } as const;

/** @throws PathFault. */
export async function openByPath(root: string, directories: readonly string[]): Promise<ParentDirectory> {
  const seen = [await look(root, ROOT_MEANING, 'root-gone')];
  let path = root;
  for (const name of directories) {
    path = join(path, name);
    seen.push(await look(path, { ENOENT: 'parent-missing' }, 'parent-not-directory'));
  }
  const directory = new SeenDirectory(path, seen);
  await directory.requireInPlace();
  return directory;
}

interface Seen {
  readonly path: string;
  readonly stats: BigIntStats;
}

async function look(
  path: string,
  meaning: Readonly<Record<string, PathFaultKind>>,
  otherwise: PathFaultKind,
): Promise<Seen> {
  const stats = await statOf(path, meaning);
  if (stats.isSymbolicLink()) throw new PathFault('unsafe');
  if (!stats.isDirectory()) throw new PathFault(otherwise);
  return { path, stats };
}

async function statOf(path: string, meaning: Readonly<Record<string, PathFaultKind>>): Promise<BigIntStats> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    throw faultOf(error, meaning);
  }
}

class SeenDirectory implements ParentDirectory {
  readonly identity: string;
  readonly mode: number;
  readonly #path: string;
  readonly #seen: readonly Seen[];

  constructor(path: string, seen: readonly Seen[]) {
    const stats = seen[seen.length - 1]?.stats;
    if (stats === undefined) throw new Error('the root itself is looked at');
    this.identity = identityOf(stats);
    this.mode = Number(stats.mode & 0o777n);
    this.#path = path;
    this.#seen = seen;
  }

  at(name: string): string {
    return join(this.#path, name);
  }

  async openFile(name: string, access: FileAccess): Promise<RegularFile> {
    const path = this.at(name);
    const stats = await statOf(path, { ENOENT: 'missing' });
    if (stats.isSymbolicLink()) throw new PathFault('unsafe');
    if (!stats.isFile()) throw new PathFault('not-regular');
    const flags = access === 'read' ? constants.O_RDONLY : constants.O_RDWR;
    let handle: FileHandle | undefined;
    try {
      handle = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      if (identityOf(await handle.stat({ bigint: true })) !== identityOf(stats))
        throw new PathFault('unsafe');
      await this.requireInPlace();
    } catch (error) {
      await handle?.close();
      throw faultOf(error, { ENOENT: 'missing' });
    }
    const opened = handle;
    return { handle: opened, stats, [Symbol.asyncDispose]: () => opened.close() };
  }

  async requireInPlace(): Promise<void> {
    try {
      if ((await realpath(this.#path)) === this.#path) {
        for (const { path, stats } of this.#seen) {
          const now = await lstat(path, { bigint: true });
          if (identityOf(now) !== identityOf(stats)) throw new PathFault('unsafe');
        }
        return;
      }
    } catch (error) {
      throw error instanceof PathFault ? error : new PathFault('unsafe', { cause: error });
    }
    throw new PathFault('unsafe');
  }

  confirmPlace(): Promise<void> {
    return this.requireInPlace();
  }

  async sync(): Promise<void> {
    const handle = await open(this.#path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}
