// The walk on Linux: each directory is opened by name in the one before it, through that one's descriptor, and never through a
// link. What was opened stays what it is, whatever is renamed, swapped or linked around it meanwhile.
import { constants, type BigIntStats } from 'node:fs';
import { open, readlink, statfs, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { identityOf, type FileAccess, type ParentDirectory, type RegularFile } from './parent-directory.ts';
import { faultOf, PathFault, type PathFaultKind } from './path-fault.ts';

/**
 * Node names no O_PATH; this is its value on every Linux that Node runs on. A descriptor opened so is only a place: links, pipes
 * and devices are found without being followed or opened, and a directory needs no read permission to be passed.
 */
const O_PATH = 0o10000000;
const PLACE = O_PATH | constants.O_NOFOLLOW;
/** Our descriptors as names: `<fd>/<name>` is the name in exactly that directory, as `openat` would find it. */
const DESCRIPTORS = '/proc/self/fd';
/** Type of the process file system (`PROC_SUPER_MAGIC`): an ordinary directory in its place could send us anywhere. */
const PROCESS_FILE_SYSTEM = 0x9fa0;

/** `descriptors`: where our descriptors have names. @throws PathFault. */
export async function openByDescriptor(
  root: string,
  directories: readonly string[],
  descriptors = DESCRIPTORS,
): Promise<ParentDirectory> {
  await requireProcessFileSystem(descriptors);
  let place = await openDirectory(
    root,
    { ENOENT: 'root-gone', ENOTDIR: 'root-gone', EACCES: 'root-gone' },
    'root-gone',
  );
  try {
    await requirePath(place.handle, root, descriptors);
    for (const name of directories) {
      const next = await openDirectory(
        `${descriptors}/${place.handle.fd}/${name}`,
        { ENOENT: 'parent-missing' },
        'parent-not-directory',
      );
      await place.handle.close();
      place = next;
    }
  } catch (error) {
    await place.handle.close();
    throw faultOf(error);
  }
  return new DescribedDirectory(place, join(root, ...directories), descriptors);
}

interface Place {
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
}

async function openDirectory(
  path: string,
  meaning: Readonly<Record<string, PathFaultKind>>,
  otherwise: PathFaultKind,
): Promise<Place> {
  const place = await openPlace(path, meaning);
  if (place.stats.isDirectory()) return place;
  await place.handle.close();
  throw new PathFault(place.stats.isSymbolicLink() ? 'unsafe' : otherwise);
}

async function openPlace(path: string, meaning: Readonly<Record<string, PathFaultKind>>): Promise<Place> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, PLACE);
    return { handle, stats: await handle.stat({ bigint: true }) };
  } catch (error) {
    await handle?.close();
    throw faultOf(error, meaning);
  }
}

/** The kernel's own word on where the directory lies: it has no links in it. */
async function requirePath(handle: FileHandle, path: string, descriptors: string): Promise<void> {
  if ((await readlink(`${descriptors}/${handle.fd}`)) !== path) throw new PathFault('unsafe');
}

async function requireProcessFileSystem(descriptors: string): Promise<void> {
  try {
    if ((await statfs(descriptors)).type === PROCESS_FILE_SYSTEM) return;
  } catch (error) {
    throw new PathFault('unavailable', { cause: error });
  }
  throw new PathFault('unavailable');
}

class DescribedDirectory implements ParentDirectory {
  readonly identity: string;
  readonly mode: number;
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #descriptors: string;

  constructor({ handle, stats }: Place, path: string, descriptors: string) {
    this.identity = identityOf(stats);
    this.mode = Number(stats.mode & 0o777n);
    this.#handle = handle;
    this.#path = path;
    this.#descriptors = descriptors;
  }

  at(name: string): string {
    return `${this.#descriptors}/${this.#handle.fd}/${name}`;
  }

  async openFile(name: string, access: FileAccess): Promise<RegularFile> {
    const place = await openPlace(this.at(name), { ENOENT: 'missing' });
    try {
      if (place.stats.isSymbolicLink()) throw new PathFault('unsafe');
      if (!place.stats.isFile()) throw new PathFault('not-regular');
      const flags = access === 'read' ? constants.O_RDONLY : constants.O_RDWR;
      // The very file that was looked at, by whatever name. Files of the process file system can block as well.
      const handle = await open(`${this.#descriptors}/${place.handle.fd}`, flags | constants.O_NONBLOCK);
      return { handle, stats: place.stats, [Symbol.asyncDispose]: () => handle.close() };
    } catch (error) {
      throw faultOf(error);
    } finally {
      await place.handle.close();
    }
  }

  requireInPlace(): Promise<void> {
    return requirePath(this.#handle, this.#path, this.#descriptors);
  }

  confirmPlace(): Promise<void> {
    return Promise.resolve();
  }

  async sync(): Promise<void> {
    const handle = await open(this.at('.'), constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.close();
  }
}
