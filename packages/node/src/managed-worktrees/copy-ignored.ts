// Copies named ignored files of the source workspace (settings such as `.env`) into a new worktree. Only what git ignores on both
// sides is copied, so a copy neither hides a change nor makes the worktree dirty. No link is followed at any component: every
// directory is opened below the one before it, by descriptor where the system offers that.
import { constants } from 'node:fs';
import { mkdir, open, opendir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import {
  WORKTREE_COPY_BYTES_MAX,
  WORKTREE_COPY_FILES_MAX,
  type CommandReceipt,
  type RepositoryPath,
} from '@roost/protocol';
import { runGit, type GitSource } from '../git/run-git.ts';
import { systemErrorCode } from '@roost/storage';

type NotCopied = CommandReceipt['notCopied'][number];
type Reason = NotCopied['reason'];

interface CopyOptions {
  readonly git: GitSource;
  /** Canonical roots. */
  readonly from: string;
  readonly to: string;
  readonly paths: readonly RepositoryPath[];
  readonly signal: AbortSignal;
}

/** Milliseconds for git to say what it ignores. */
const IGNORE_MS = 10_000;
const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Without waiting: a pipe in the place of a file must not hold the node. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Never throws for a path that cannot be copied: each of those is told with the reason. */
export async function copyIgnored(options: CopyOptions): Promise<NotCopied[]> {
  const room = { files: WORKTREE_COPY_FILES_MAX, bytes: WORKTREE_COPY_BYTES_MAX };
  const notCopied: NotCopied[] = [];
  for (const path of options.paths) {
    if (options.signal.aborted) break;
    const reason = await copyOne(options, path, room);
    if (reason !== null) notCopied.push({ path, reason });
  }
  return notCopied;
}

interface Room {
  files: number;
  bytes: number;
}

/** What of a path is to be copied: directories before what they hold. */
interface Plan {
  readonly directories: string[];
  readonly files: string[];
  skipped: Reason | null;
}

async function copyOne(options: CopyOptions, path: RepositoryPath, room: Room): Promise<Reason | null> {
  const plan: Plan = { directories: [], files: [], skipped: null };
  try {
    const left = { ...room };
    const isDirectory = await measure(options.from, path.split('/'), plan, left);
    if (left.files < 0 || left.bytes < 0) return 'too-large';
    const asked = isDirectory ? `${path}/` : path;
    for (const root of [options.from, options.to]) {
      if (!(await isIgnored(options, root, asked))) return 'not-ignored';
    }
    for (const parent of parentsOf(path)) await makeDirectory(options.to, parent);
    for (const directory of plan.directories) await makeDirectory(options.to, directory);
    for (const file of plan.files) await copyFile(options, file, room);
    return plan.skipped;
  } catch (error) {
    return reasonOf(error);
  }
}

/** true for a directory. */
async function measure(root: string, parts: readonly string[], plan: Plan, left: Room): Promise<boolean> {
  const path = parts.join('/');
  const found = await openBelow(root, parts, FILE);
  try {
    const facts = await found.stat();
    if (facts.isFile()) {
      plan.files.push(path);
      left.files -= 1;
      left.bytes -= facts.size;
      return false;
    }
    if (!facts.isDirectory()) throw new RefusedEntry('not-a-file');
    plan.directories.push(path);
    left.files -= 1;
    // One after the other: a directory may hold more than memory does.
    for await (const entry of await opendir(pathOf(found, join(root, path)))) {
      if (left.files < 0 || left.bytes < 0) return true;
      try {
        if (entry.isSymbolicLink()) throw new RefusedEntry('link');
        await measure(root, [...parts, entry.name], plan, left);
      } catch (error) {
        // The rest of the directory is copied all the same; what is not counts, so that the looking has an end.
        plan.skipped ??= reasonOf(error);
        left.files -= 1;
      }
    }
    return true;
  } finally {
    await found.close();
  }
}

function* parentsOf(path: string): Generator<string> {
  const parts = path.split('/');
  for (let length = 1; length < parts.length; length += 1) yield parts.slice(0, length).join('/');
}

async function makeDirectory(root: string, path: string): Promise<void> {
  const parts = path.split('/');
  const parent = await openBelow(root, parts.slice(0, -1), DIRECTORY);
  try {
    await mkdir(join(pathOf(parent, join(root, ...parts.slice(0, -1))), parts.at(-1) ?? ''));
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  } finally {
    await parent.close();
  }
}

async function copyFile({ from, to, signal }: CopyOptions, path: string, room: Room): Promise<void> {
  const parts = path.split('/');
  const source = await openBelow(from, parts, FILE);
  try {
    const facts = await source.stat();
    if (!facts.isFile()) throw new RefusedEntry('not-a-file');
    const parent = await openBelow(to, parts.slice(0, -1), DIRECTORY);
    try {
      const name = join(pathOf(parent, join(to, ...parts.slice(0, -1))), parts.at(-1) ?? '');
      await using target = await open(name, NEW_FILE, facts.mode & 0o777);
      const buffer = Buffer.alloc(64 * 1024);
      room.files -= 1;
      for (;;) {
        const { bytesRead } = await source.read(buffer, 0, buffer.length, null);
        if (bytesRead === 0) return;
        room.bytes -= bytesRead;
        // It grew since it was measured.
        if (room.bytes < 0 || signal.aborted) throw new RefusedEntry('too-large');
        await target.write(buffer, 0, bytesRead);
      }
    } finally {
      await parent.close();
    }
  } finally {
    await source.close();
  }
}

/** Opens what lies below a root, each component below the one before, following no link. */
async function openBelow(root: string, parts: readonly string[], flags: number): Promise<FileHandle> {
  let handle = await open(root, DIRECTORY);
  let path = root;
  for (const [index, part] of parts.entries()) {
    const parent = handle;
    try {
      const isLast = index === parts.length - 1;
      handle = await open(join(pathOf(parent, path), part), isLast ? flags : DIRECTORY);
      path = join(path, part);
    } finally {
      await parent.close();
    }
  }
  return handle;
}

/** A name of the open directory that nobody can turn into another one; on other systems than Linux its path has to do. */
function pathOf(handle: FileHandle, path: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path;
}

/** Tracked files are never ignored, whatever the patterns say. */
async function isIgnored({ git, signal }: CopyOptions, root: string, path: string): Promise<boolean> {
  const outcome = await runGit(git, {
    directory: root,
    args: ['--no-literal-pathspecs', 'check-ignore', '-q', '--', `./${path}`],
    effect: 'read',
    timeoutMs: IGNORE_MS,
    stdoutBytesMax: 1024,
    signal,
  });
  return outcome.exitCode === 0;
}

class RefusedEntry extends Error {
  readonly reason: Reason;
  constructor(reason: Reason) {
    super(reason);
    this.reason = reason;
  }
}

function reasonOf(error: unknown): Reason {
  if (error instanceof RefusedEntry) return error.reason;
  switch (systemErrorCode(error)) {
    case 'ENOENT':
      return 'missing';
    case 'ELOOP':
      return 'link';
    case 'ENOTDIR':
      // A link in the place of a directory is told like this too.
      return 'link';
    case 'EEXIST':
      return 'exists';
    case 'ENXIO':
      return 'not-a-file';
    default:
      return 'unreadable';
  }
}
