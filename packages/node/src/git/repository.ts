// Where a directory lies in its repository. Asked of git itself, once for each read.
import { resolve } from 'node:path';
import { FailureError, GitObjectId, type GitRevision } from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import { gitFailure } from './git-failure.ts';
import { strictText } from './repository-names.ts';
import { runGit, type GitCommand, type GitSource } from './run-git.ts';

export interface Repository {
  /** The directory that was asked about. */
  readonly directory: string;
  /** Whether the directory is in a working tree: not in a bare repository, not in `.git`. */
  readonly hasWorkingTree: boolean;
  /** From the top of the working tree to the directory, with a slash at its end; empty at the top. */
  readonly prefix: Buffer;
  /** Of this working tree: a linked one has its own. */
  readonly gitDirectory: string;
  readonly objectsDirectory: string;
}

/** Bytes of an answer that is a few paths or an id. */
const ANSWER_BYTES_MAX = 64 * 1024;

/** @throws FailureError: not-git-repository, git-ownership-refused, git-not-installed, git-timed-out, git-failed. */
export async function findRepository(
  source: GitSource,
  directory: string,
  deadline: Deadline,
): Promise<Repository> {
  const { stdout } = await ask(source, deadline, directory, [
    'rev-parse',
    '--is-inside-work-tree',
    '--show-prefix',
    '--absolute-git-dir',
    '--git-path',
    'objects',
  ]);
  const [inside, prefix, gitDirectory, objects, end] = splitLines(stdout);
  const paths = [gitDirectory, objects].map((line) => strictText(line ?? Buffer.alloc(0)));
  const [ownPath = null, objectsPath = null] = paths;
  // A path of several lines, or one that is no text, cannot be told apart from another.
  if (prefix === undefined || ownPath === null || objectsPath === null || end?.length !== 0) {
    throw new FailureError('git-failed', {}, { cause: new Error('git: the paths cannot be read') });
  }
  return {
    directory,
    hasWorkingTree: inside?.toString() === 'true',
    prefix,
    gitDirectory: ownPath,
    objectsDirectory: resolve(directory, objectsPath),
  };
}

/** The full id of a commit; null when there is none of that name. @throws FailureError: as above. */
export async function findCommit(
  source: GitSource,
  directory: string,
  revision: GitRevision,
  deadline: Deadline,
): Promise<GitObjectId | null> {
  const outcome = await runGit(source, {
    ...bounds(deadline, directory),
    args: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`],
  });
  if (outcome.exitCode === 0) return GitObjectId.parse(outcome.stdout.toString('latin1').trim());
  // 1: said nothing. 128: said something about the revision, or about the repository.
  if (outcome.exitCode === 1) return null;
  const refusal = gitFailure(outcome);
  if (outcome.exitCode === 128 && refusal.failure.code === 'git-failed') return null;
  throw refusal;
}

async function ask(source: GitSource, deadline: Deadline, directory: string, args: readonly string[]) {
  const outcome = await runGit(source, { ...bounds(deadline, directory), args });
  if (outcome.exitCode !== 0) throw gitFailure(outcome);
  return outcome;
}

function bounds(
  deadline: Deadline,
  directory: string,
): Pick<GitCommand, 'directory' | 'effect' | 'timeoutMs' | 'stdoutBytesMax'> {
  return { directory, effect: 'read', timeoutMs: deadline.remaining(), stdoutBytesMax: ANSWER_BYTES_MAX };
}

function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, from)) {
    lines.push(bytes.subarray(from, at));
    from = at + 1;
  }
  return [...lines, bytes.subarray(from)];
}
