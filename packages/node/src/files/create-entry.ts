// New entries: one at a time, in a directory that is there, never in place of something. They are as open to others as the
// directory that they are in, short of being writable for everybody.
import { constants } from 'node:fs';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import type { Log } from '@roost/storage';
import { openBeneath, type Entry } from './beneath.ts';
import type { CommitGate } from './commit-gate.ts';
import type { OpenParent } from './parent-directory.ts';
import { faultOf, PathFault } from './path-fault.ts';

export interface Creation {
  readonly root: string;
  readonly path: string;
  readonly gate: CommitGate;
  readonly log: Log;
  readonly openParent?: OpenParent;
}

const MEANING = { ENOENT: 'parent-missing', ENOTDIR: 'parent-not-directory' } as const;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const OWN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** An empty file. @throws PathFault. */
export async function createFile(creation: Creation): Promise<void> {
  await create(creation, async ({ parent, name }) => {
    const handle = await open(parent.at(name), NEW_FILE, 0o600);
    return { handle, mode: 0o600 | (parent.mode & 0o064) };
  });
}

/** An empty directory. @throws PathFault. */
export async function createDirectory(creation: Creation): Promise<void> {
  await create(creation, async ({ parent, name }) => {
    await mkdir(parent.at(name), 0o700);
    const handle = await open(parent.at(name), OWN_DIRECTORY).catch(() => null);
    return { handle, mode: 0o700 | (parent.mode & 0o075) };
  });
}

interface Made {
  readonly handle: FileHandle | null;
  readonly mode: number;
}

async function create(creation: Creation, make: (entry: Entry) => Promise<Made>): Promise<void> {
  const { root, path, gate, log, openParent } = creation;
  await using entry = await openBeneath(root, path, openParent);
  await entry.parent.requireInPlace();
  gate.commit();
  let made: Made;
  try {
    made = await make(entry);
  } catch (error) {
    throw faultOf(error, MEANING);
  }
  try {
    await entry.parent.confirmPlace();
    await made.handle?.chmod(made.mode);
    await made.handle?.sync();
    await entry.parent.sync();
  } catch (error) {
    if (error instanceof PathFault) throw error;
    // It is there, and that is the answer.
    log.warn({ err: error, path }, 'a new entry may not outlive a crash of the machine');
  } finally {
    await made.handle?.close();
  }
}
