// The directories in one directory of the machine, for somebody who looks for a place to work in. Whatever the size of the
// directory, no more than one page of it is held; nothing but directories is opened.
import { isUtf8 } from 'node:buffer';
import { realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  AbsolutePath,
  DIRECTORIES_PAGE_MAX,
  FailureError,
  type HostDirectory,
  type HostDirectoryListing,
} from '@roost/protocol';
import { systemErrorCode } from '@roost/storage';
import { OpenDirectory, type ListedEntry } from './open-directory.ts';
import { Smallest } from './smallest.ts';

/** Milliseconds for one page: a directory of a network disk that is away would take for ever. */
export const BROWSE_MS = 2_000;

/** Bytes of a name; file systems allow 255. */
const NAME_BYTES_MAX = 1_024;

/** What its path says is no directory, as against one that may not be read. */
const NO_DIRECTORY = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];

export interface Page {
  readonly directory: string;
  /** Only what comes after this path, by bytes. */
  readonly after: string | null;
}

/**
 * Stops early when the signal is aborted; then nobody waits for what it returns.
 * @throws FailureError: host-directory-invalid, host-directory-read-failed.
 */
export async function browseDirectories(page: Page, signal: AbortSignal): Promise<HostDirectoryListing> {
  const directory = await canonical(page.directory);
  const found = new DirectoriesIn(directory, page.after);
  try {
    await found.read(signal);
  } catch (cause) {
    throw failure('host-directory-read-failed', page.directory, cause);
  }
  const entries = found.smallest.values
    .slice(0, DIRECTORIES_PAGE_MAX)
    .map(({ path, name, isLink }) => ({ path, name, isLink }));
  const hasMore = found.smallest.values.length > entries.length;
  return {
    directory,
    parent: dirname(directory) === directory ? null : AbsolutePath.parse(dirname(directory)),
    entries,
    nextAfter: hasMore ? (entries.at(-1)?.path ?? null) : null,
    incomplete: hasMore || found.leftOut,
  };
}

interface Found extends HostDirectory {
  /** Of the path: what they are ordered by. */
  readonly bytes: Buffer;
}

class DirectoriesIn {
  /** One more than a page, which tells whether there is a next one. */
  readonly smallest = new Smallest<Found>(
    DIRECTORIES_PAGE_MAX + 1,
    (a, b) => Buffer.compare(a.bytes, b.bytes),
    // Links to a directory that is listed anyway tell nothing new; of several links the first by name is shown.
    (one, there) => (one.isLink === there.isLink ? one.name < there.name : there.isLink),
  );
  /** Something was passed over that may be a directory. */
  leftOut = false;
  readonly #directory: string;
  readonly #after: Buffer | null;

  constructor(directory: string, after: string | null) {
    this.#directory = directory;
    this.#after = after === null ? null : Buffer.from(after);
  }

  async read(signal: AbortSignal): Promise<void> {
    const open = await OpenDirectory.open(this.#directory);
    try {
      await open.list((entry) => {
        if (signal.aborted) return false;
        if (entry.kind === null) return this.#addUnknown(open, entry);
        return entry.kind === 'link' ? this.#addLink(entry.name) : this.#add(entry);
      });
    } finally {
      await open.close();
    }
  }

  async #addUnknown(open: OpenDirectory, { name }: ListedEntry): Promise<boolean> {
    const kind = isPlainName(name) ? await open.kindOf(name.toString()) : 'directory';
    if (kind === 'link') return this.#addLink(name);
    return kind === null || this.#add({ name, kind });
  }

  #add({ name, kind }: ListedEntry): boolean {
    if (kind !== 'directory') return true;
    if (isPlainName(name)) this.#keep(join(this.#directory, name.toString()), name.toString(), false);
    else this.leftOut = true;
    return true;
  }

  async #addLink(name: Buffer): Promise<boolean> {
    try {
      if (!isPlainName(name)) throw new Error('the name is no plain text');
      const path = await realpath(join(this.#directory, name.toString()));
      if ((await stat(path)).isDirectory()) this.#keep(path, name.toString(), true);
    } catch (error) {
      // A link to nothing is no directory.
      if (systemErrorCode(error) !== 'ENOENT') this.leftOut = true;
    }
    return true;
  }

  #keep(path: string, name: string, isLink: boolean): void {
    const bytes = Buffer.from(path);
    if (this.#after !== null && Buffer.compare(bytes, this.#after) <= 0) return;
    const parsed = AbsolutePath.safeParse(path);
    if (parsed.success) this.smallest.add({ path: parsed.data, bytes, name, isLink });
    else this.leftOut = true;
  }
}

/** Text without control characters, which would act on the terminal or the list that shows it. */
function isPlainName(name: Buffer): boolean {
  return name.length <= NAME_BYTES_MAX && isUtf8(name) && !/\p{Cc}/u.test(name.toString());
}

async function canonical(path: string): Promise<AbsolutePath> {
  try {
    const directory = await realpath(path);
    const isDirectory = (await stat(directory)).isDirectory();
    const parsed = AbsolutePath.safeParse(directory);
    if (isDirectory && parsed.success) return parsed.data;
  } catch (cause) {
    const isNone = NO_DIRECTORY.includes(systemErrorCode(cause) ?? '');
    throw failure(isNone ? 'host-directory-invalid' : 'host-directory-read-failed', path, cause);
  }
  throw failure('host-directory-invalid', path);
}

function failure(
  code: 'host-directory-invalid' | 'host-directory-read-failed',
  directory: string,
  cause?: unknown,
): FailureError {
  return new FailureError(code, { directory }, { cause });
}
