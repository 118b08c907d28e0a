// Git refreshes its index while it compares a working tree, and writes it even when told to take no locks. So it gets a copy, and,
// where it is to add to that, a place of its own for objects: the repository stays as it is, byte for byte, and new files can be
// compared like others.
import { constants } from 'node:fs';
import { mkdir, mkdtemp, open, rm, utimes, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { FailureError } from '@roost/protocol';
import { systemErrorCode } from '@roost/storage';
import type { Repository } from './repository.ts';

/** Bytes of an index: of some millions of files. */
const INDEX_BYTES_MAX = 1024 * 1024 * 1024;
/** Bytes copied at a time: most indexes are smaller. */
const BLOCK_BYTES = 16 * 1024 * 1024;

export class ScratchIndex implements AsyncDisposable {
  /** For the commands that are to use it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #directory: string;

  private constructor(directory: string, environment: Readonly<Record<string, string>>) {
    this.#directory = directory;
    this.environment = { GIT_INDEX_FILE: join(directory, 'index'), ...environment };
  }

  /**
   * `toAdd`: commands will add to it, and write objects; comparing alone writes none.
   * @throws FailureError: git-failed when the index is none that can be copied.
   */
  static async make(repository: Repository, { toAdd }: { readonly toAdd: boolean }): Promise<ScratchIndex> {
    const directory = await mkdtemp(join(tmpdir(), 'roost-index-'));
    const objects = join(directory, 'objects');
    const scratch = new ScratchIndex(
      directory,
      toAdd
        ? {
            GIT_OBJECT_DIRECTORY: objects,
            GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(repository.objectsDirectory),
          }
        : {},
    );
    try {
      if (toAdd) await mkdir(objects);
      await copy(join(repository.gitDirectory, 'index'), join(directory, 'index'));
      return scratch;
    } catch (error) {
      await scratch[Symbol.asyncDispose]();
      throw new FailureError('git-failed', {}, { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** The list of directories ends one at a colon, unless it is quoted. */
function quoted(directory: string): string {
  return /["\\]/.test(directory) || directory.includes(delimiter)
    ? `"${directory.replace(/["\\]/g, '\\$&')}"`
    : directory;
}

async function copy(from: string, to: string): Promise<void> {
  let source: FileHandle;
  try {
    // Without waiting: a pipe in its place must not hold the node.
    source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    // A repository in which nothing was ever added has none.
    if (systemErrorCode(error) === 'ENOENT') return;
    throw error;
  }
  try {
    const facts = await source.stat();
    if (!facts.isFile() || facts.size > INDEX_BYTES_MAX) throw new Error('the index is no file to copy');
    const target = await open(to, 'wx', 0o600);
    try {
      const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, facts.size + 1));
      for (;;) {
        const { bytesRead } = await source.read(block, 0, block.length);
        if (bytesRead === 0) break;
        await target.writeFile(block.subarray(0, bytesRead));
      }
    } finally {
      await target.close();
    }
    // Of files that changed no earlier than the index, git compares the content too. A little earlier is safe: it compares more.
    const moment = (Math.floor(facts.mtimeMs) - 1) / 1_000;
    await utimes(to, moment, moment);
  } finally {
    await source.close();
  }
}
