// Where HEAD of a working tree is, told by its files: a launch must not wait for a process. Only what the files do not tell is
// asked of git, for a moment.
import { join, resolve } from 'node:path';
import { FailureError, GitObjectId } from '@roost/protocol';
import { Deadline, OVER } from '../deadline.ts';
import { readText, textOf } from './read-text.ts';
import { findCommit } from './repository.ts';
import type { GitSource } from './run-git.ts';

/** Milliseconds that a launch may be held up by it. */
const READ_MS = 300;
/** Bytes of a file with one reference or path in it. */
const SMALL_BYTES_MAX = 8_192;
/** Bytes of the packed references, some 100,000 of them; of more, git is asked. */
const PACKED_BYTES_MAX = 8 * 1024 * 1024;
/** References that name a reference, one after the other: as many as git itself follows. */
const SYMBOLIC_MAX = 5;
/** References that each worktree has of its own, in another place. */
const OF_ONE_WORKTREE = /^refs\/(?:bisect|rewritten|worktree)\//;

/** `root`: what holds `.git`. null when there is none, no commit yet, or no answer in `readMs`. Never throws. */
export async function readHeadCommit(
  source: GitSource,
  root: string | null,
  readMs = READ_MS,
): Promise<GitObjectId | null> {
  if (root === null) return null;
  const deadline = Deadline.in(readMs);
  const commit = await deadline.race(readOrAsk(source, root, deadline));
  return commit === OVER ? null : commit;
}

async function readOrAsk(source: GitSource, root: string, deadline: Deadline): Promise<GitObjectId | null> {
  const commit = await readFiles(root);
  if (commit !== null) return commit;
  try {
    return await findCommit(source, root, 'HEAD', deadline);
  } catch (error) {
    if (error instanceof FailureError) return null;
    throw error;
  }
}

async function readFiles(root: string): Promise<GitObjectId | null> {
  const gitDirectory = await findGitDirectory(join(root, '.git'));
  const common = (await textOf(join(gitDirectory, 'commondir'), SMALL_BYTES_MAX))?.trim();
  const commonDirectory = common === undefined ? gitDirectory : resolve(gitDirectory, common);
  return readHead(gitDirectory, commonDirectory);
}

/** From the files of a working tree, and of all worktrees together; null when they do not tell. */
export async function readHead(gitDirectory: string, commonDirectory: string): Promise<GitObjectId | null> {
  let text = await textOf(join(gitDirectory, 'HEAD'), SMALL_BYTES_MAX);
  for (let depth = 0; depth <= SYMBOLIC_MAX && text !== null; depth++) {
    const id = GitObjectId.safeParse(text.trim());
    if (id.success) return id.data;
    const name = /^ref: (refs\/\S+)\s*$/.exec(text)?.[1];
    if (name === undefined || name.split('/').includes('..') || OF_ONE_WORKTREE.test(name)) return null;
    const loose = await readText(join(commonDirectory, name), SMALL_BYTES_MAX);
    if (loose === 'unreadable') return null;
    text =
      loose === 'absent'
        ? findPacked(await textOf(join(commonDirectory, 'packed-refs'), PACKED_BYTES_MAX), name)
        : loose.text;
  }
  return null;
}

/** A linked working tree and a submodule have a file there, which names it. */
async function findGitDirectory(path: string): Promise<string> {
  const named = /^gitdir: (.+)$/m.exec((await textOf(path, SMALL_BYTES_MAX)) ?? '')?.[1];
  return named === undefined ? path : resolve(path, '..', named);
}

function findPacked(text: string | null, name: string): string | null {
  const end = text === null ? -1 : text.indexOf(` ${name}\n`);
  return text === null || end < 0 ? null : text.slice(text.lastIndexOf('\n', end) + 1, end);
}
