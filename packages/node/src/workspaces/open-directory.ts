// Directories below a root, opened one component at a time and never through a symbolic link. On Linux what is open is named by its
// descriptor, so nobody can put another directory in its place. Elsewhere it is named by its path: a link that is put there between
// the opening and the reading would be read; nothing is ever written through it.
import { constants, type Dirent } from 'node:fs';
import { lstat, open, opendir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** Entries that the system is asked for at once: between two such questions the event loop turns. */
const ENTRIES_AT_ONCE = 256;

export type EntryKind = 'file' | 'directory' | 'link' | 'other';

export interface ListedEntry {
  /** Bytes: a name need not be text. */
  readonly name: Buffer;
  /** null where the file system does not tell it in its list. */
  readonly kind: EntryKind | null;
}

export class OpenDirectory {
  readonly #handle: FileHandle;
  readonly #path: string;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path;
  }

  /** The last component of the path is not followed; what lies above is the caller's. @throws the system's error. */
  static async open(path: string): Promise<OpenDirectory> {
    const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
    // A directory by the flag: a pipe or a device is refused without being opened.
    const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
    return new OpenDirectory(handle, path);
  }

  openChild(name: string): Promise<OpenDirectory> {
    return OpenDirectory.open(this.pathOf(name));
  }

  /** For calls of this process while this is open, and that do not follow a link at the end. */
  pathOf(name: string): string {
    return join(this.#path, name);
  }

  /** For a program that this process starts, and that is to work in this very directory. */
  get pathForPrograms(): string {
    return this.#path.replace('/proc/self/', `/proc/${process.pid}/`);
  }

  identity(): Promise<Identity> {
    return this.#handle.stat({ bigint: true });
  }

  /** null when there is nothing of that name. */
  async kindOf(name: string): Promise<EntryKind | null> {
    try {
      return kindOf(await lstat(this.pathOf(name)));
    } catch {
      return null;
    }
  }

  /** Calls `see` for each entry, in no order, one after the other, until it says false. `.` and `..` are no entries. */
  async list(see: (entry: ListedEntry) => boolean | Promise<boolean>): Promise<void> {
    for await (const entry of await opendir(this.#path, {
      // Read as bytes, which the type of the option does not know.
      encoding: 'buffer' as BufferEncoding,
      bufferSize: ENTRIES_AT_ONCE,
    })) {
      const name = (entry as unknown as Dirent<Buffer>).name;
      const goesOn = see({ name, kind: kindOf(entry) });
      if (!(typeof goesOn === 'boolean' ? goesOn : await goesOn)) return;
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Which directory it is, whatever it is called. It cannot be given to another one while somebody holds it open. */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export function isSame(one: Identity, other: Identity): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

type Kinds = Pick<
  Dirent,
  'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket' | 'isBlockDevice' | 'isCharacterDevice'
>;

function kindOf(entry: Kinds): EntryKind | null {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  if (entry.isSymbolicLink()) return 'link';
  const isOther = entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice();
  return isOther ? 'other' : null;
}
