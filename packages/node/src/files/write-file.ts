// Replacing the text of a file that is there: the new content is complete and durable under a name of its own before it takes the
// file's place in one step, and only if the file still is what the caller saw.
import { randomBytes } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, rename, unlink, type FileHandle } from 'node:fs/promises';
import type { FileRevision } from '@roost/protocol';
import type { KeyedLocks } from '../control/keyed-locks.ts';
import type { Log } from '@roost/storage';
import { openBeneath } from './beneath.ts';
import type { CommitGate } from './commit-gate.ts';
import { readContent, revisionOf } from './content.ts';
import { identityOf, type OpenParent, type ParentDirectory } from './parent-directory.ts';
import { faultOf, PathFault } from './path-fault.ts';

/** Beginning of the names under which new content is prepared. */
export const PREPARED_PREFIX = '.roost-save-';
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export interface Replacement {
  readonly root: string;
  readonly path: string;
  readonly expected: FileRevision;
  readonly text: string;
  readonly gate: CommitGate;
  /** One replacement at a time in a directory, by whatever workspace it is reached: no two can see the same old file. */
  readonly locks: KeyedLocks;
  readonly log: Log;
  readonly openParent?: OpenParent;
}

export interface Replaced {
  readonly byteLength: number;
  readonly revision: FileRevision;
}

/** @throws PathFault. */
export async function writeFile(replacement: Replacement): Promise<Replaced> {
  const { root, path, expected, text, gate, locks, log, openParent } = replacement;
  const bytes = Buffer.from(text, 'utf8');
  const replaced = { byteLength: bytes.length, revision: revisionOf(bytes) };
  await using entry = await openBeneath(root, path, openParent);
  const { parent, name } = entry;
  const old = await requireRevision(parent, name, expected);
  if (replaced.revision === expected) return replaced;

  await using prepared = await prepare(parent, bytes, old);
  const release = await locks.acquire([{ key: parent.identity }]);
  try {
    const now = await requireRevision(parent, name, expected);
    if (identityOf(now) !== identityOf(old)) throw new PathFault('conflict');
    await prepared.requireOurs();
    await parent.requireInPlace();
    gate.commit();
    await prepared.takePlaceOf(name);
  } catch (error) {
    throw faultOf(error);
  } finally {
    release();
  }
  await parent.confirmPlace();
  // The new content is there, and that is the answer.
  await parent
    .sync()
    .catch((error: unknown) =>
      log.warn({ err: error, path }, 'a new text may not outlive a crash of the machine'),
    );
  return replaced;
}

async function requireRevision(
  parent: ParentDirectory,
  name: string,
  expected: FileRevision,
): Promise<BigIntStats> {
  await using file = await parent.openFile(name, 'replace');
  const content = await readContent(file);
  if (content.kind !== 'text') throw new PathFault('not-text');
  if (content.revision !== expected) throw new PathFault('conflict', { revision: content.revision });
  return file.stats;
}

async function prepare(parent: ParentDirectory, bytes: Buffer, old: BigIntStats): Promise<Prepared> {
  const name = `${PREPARED_PREFIX}${randomBytes(8).toString('hex')}`;
  let handle: FileHandle;
  try {
    handle = await open(parent.at(name), NEW_FILE, 0o600);
  } catch (error) {
    throw faultOf(error);
  }
  const prepared = new Prepared(parent, name, handle);
  try {
    await handle.writeFile(bytes);
    await makeLike(handle, old);
    await handle.sync();
    return prepared;
  } catch (error) {
    await prepared[Symbol.asyncDispose]();
    throw faultOf(error);
  }
}

/** Owner, group and permissions of the old file. Nobody who could not read or write that can do so with the new one. */
async function makeLike(handle: FileHandle, old: BigIntStats): Promise<void> {
  const [uid, gid] = [Number(old.uid), Number(old.gid)];
  let mode = Number(old.mode & 0o777n);
  const made = await handle.stat({ bigint: true });
  if (made.uid !== old.uid || made.gid !== old.gid) {
    const kept = await handle.chown(uid, gid).then(
      () => true,
      () => false,
    );
    const keptGroup =
      kept ||
      (await handle.chown(-1, gid).then(
        () => true,
        () => false,
      ));
    // Another group gets what everybody has.
    if (!keptGroup) mode = (mode & 0o707) | ((mode & 0o007) << 3);
  }
  // Like any write, this ends rights to run as the owner.
  await handle.chmod(mode);
}

/** New content beside the file; taken away again unless it has taken the file's place. */
class Prepared implements AsyncDisposable {
  readonly #parent: ParentDirectory;
  readonly #handle: FileHandle;
  readonly #name: string;
  #inPlace = false;

  constructor(parent: ParentDirectory, name: string, handle: FileHandle) {
    this.#parent = parent;
    this.#name = name;
    this.#handle = handle;
  }

  /** @throws PathFault unsafe when somebody put something else under our name. */
  async requireOurs(): Promise<void> {
    const [ours, named] = [await this.#handle.stat({ bigint: true }), await this.#stats()];
    if (named === null || identityOf(ours) !== identityOf(named)) throw new PathFault('unsafe');
  }

  takePlaceOf(name: string): Promise<void> {
    this.#inPlace = true;
    return rename(this.#parent.at(this.#name), this.#parent.at(name)).catch((error: unknown) => {
      this.#inPlace = false;
      throw error;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (!this.#inPlace) await unlink(this.#parent.at(this.#name)).catch(() => undefined);
    } finally {
      await this.#handle.close();
    }
  }

  async #stats(): Promise<BigIntStats | null> {
    return lstat(this.#parent.at(this.#name), { bigint: true }).catch(() => null);
  }
}
