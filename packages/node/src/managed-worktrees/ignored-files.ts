// Which ignored files go with a worktree. What is there when its set-up is done is Roost's only as long as it stays as it was: each entry
// is remembered with a digest of what it held, and one that is different later is somebody's work.
import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { FailureError } from '@roost/protocol';
import { Deadline } from '../deadline.ts';
import { readContent } from '../worktrees/worktree-content.ts';
import { profileOf, type LeaseRow } from './lease-table.ts';
import { LOOK_MS, type ManagedScene } from './scene.ts';

/** An ignored file, or a directory with a slash behind it, as git names it; and the SHA-256 of what it held. */
const Made = z.array(z.tuple([z.string(), z.string()]));
type Made = z.infer<typeof Made>;

/** Entries of a worktree that are remembered; the rest is nobody's, and stops a removal. */
const MADE_MAX = 256;
/** Files and directories that are looked at, of all remembered entries together. */
const VISITS_MAX = 20_000;
/** Bytes of files that are read, of all remembered entries together. */
const READ_BYTES_MAX = 256 * 1024 * 1024;
/** Files above are not read: their size and both of their times stand for their content. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
/** Without waiting: a pipe in the place of a file must not hold the node. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Directories that tools make anew from what is committed. */
const REBUILT: ReadonlySet<string> = new Set([
  'node_modules',
  'target',
  '.venv',
  'venv',
  '__pycache__',
  '.next',
  '.turbo',
  '.gradle',
  '.pytest_cache',
  '.mypy_cache',
  '.tox',
]);

/** What a worktree holds of ignored files while nobody but Roost is in it, as much as the bounds allow. Never throws. */
export async function madeIn(
  { git, log }: Pick<ManagedScene, 'git' | 'log'>,
  { id: leaseId, target }: Pick<LeaseRow, 'id' | 'target'>,
): Promise<Made> {
  const deadline = Deadline.in(LOOK_MS);
  const room = fullRoom(deadline);
  const made: Made = [];
  try {
    const { ignored } = await readContent(git, target, deadline);
    for (const name of ignored.filter((one) => !isRebuilt(one)).slice(0, MADE_MAX)) {
      const digest = await digestOf(target, name, room);
      if (digest !== null) made.push([name, digest]);
    }
  } catch (error) {
    // Then the rest does not count as ours.
    log.warn({ leaseId, err: error }, 'what a command of a worktree made is not known in full');
  }
  return made;
}

/**
 * Which ignored files go with the worktree: all when its profile says so, else what tools rebuild, and what is as it was when Roost put
 * it there. What cannot be compared does not go. @throws FailureError: git-timed-out.
 */
export function mayDiscard(lease: LeaseRow, deadline: Deadline): (ignored: string) => Promise<boolean> {
  const { discardIgnored } = profileOf(lease);
  const made = new Map(Made.parse(JSON.parse(lease.made)));
  return async (ignored) => {
    if (discardIgnored || isRebuilt(ignored)) return true;
    const then = made.get(ignored);
    return then !== undefined && then === (await digestOf(lease.target, ignored, fullRoom(deadline)));
  };
}

function isRebuilt(name: string): boolean {
  return name.endsWith('/') && REBUILT.has(name.split('/').at(-2) ?? '');
}

interface Room {
  visits: number;
  bytes: number;
  readonly deadline: Deadline;
}

function fullRoom(deadline: Deadline): Room {
  return { visits: VISITS_MAX, bytes: READ_BYTES_MAX, deadline };
}

/** null: it is too much, or cannot be read. */
async function digestOf(root: string, name: string, room: Room): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    await add(hash, root, name.replace(/\/$/, ''), room);
    return hash.digest('hex');
  } catch (error) {
    if (error instanceof FailureError) throw error;
    return null;
  }
}

async function add(hash: Hash, root: string, name: string, room: Room): Promise<void> {
  if (room.deadline.hasPassed()) throw new FailureError('git-timed-out');
  room.visits -= 1;
  if (room.visits < 0) throw new RangeError('more than is looked at');
  const path = join(root, name);
  const facts = await lstat(path, { bigint: true });
  if (facts.isDirectory()) {
    put(hash, 'directory', name);
    const inside = (await readdir(path, { withFileTypes: true })).sort((one, other) =>
      one.name < other.name ? -1 : 1,
    );
    for (const entry of inside) {
      const below = `${name}/${entry.name}`;
      if (!(entry.isDirectory() && isRebuilt(`${below}/`))) await add(hash, root, below, room);
    }
  } else if (facts.isSymbolicLink()) put(hash, 'link', name, await readlink(path));
  else if (!facts.isFile()) put(hash, 'other', name);
  else if (facts.size > FILE_BYTES_MAX) {
    put(hash, 'large', name, `${facts.size} ${facts.mtimeNs} ${facts.ctimeNs}`);
  } else put(hash, 'file', name, await contentOf(path, room));
}

async function contentOf(path: string, room: Room): Promise<string> {
  await using file = await open(path, FILE);
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(64 * 1024);
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return hash.digest('hex');
    room.bytes -= bytesRead;
    if (room.bytes < 0) throw new RangeError('more than is read');
    hash.update(buffer.subarray(0, bytesRead));
  }
}

/** Each part with its end: nothing reads like something else. */
function put(hash: Hash, ...parts: string[]): void {
  for (const part of parts) hash.update(`${part}\0`);
  hash.update('\0');
}
