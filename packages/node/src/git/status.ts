// The state of a directory's repository within a deadline. What git could not tell is unknown, and never taken for the absence of a
// repository.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import {
  FailureError,
  GitUnknownReason,
  type GitOperation,
  type GitRepositoryStatus,
  type GitStatus,
} from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import { gitFailure } from './git-failure.ts';
import { inRepository, type KnownRepository } from './known-repository.ts';
import { parseStatus, type ParsedStatus } from './parse-status.ts';
import { findCommit } from './repository.ts';
import { runGit, type GitSource } from './run-git.ts';

/** Bytes of git's answer: more entries than are told, unless their paths are unusually long. */
const STATUS_BYTES_MAX = 1024 * 1024;

/** Never throws for what git does: how it went is the answer. */
export async function readGitStatus(
  source: GitSource,
  directory: string,
  deadline: Deadline,
): Promise<GitStatus> {
  try {
    return await inRepository(source, directory, deadline, (repository) =>
      readStatus(source, repository, deadline),
    );
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    const { code } = error.failure;
    if (code === 'not-git-repository') return { kind: 'not-a-repository' };
    const reason = GitUnknownReason.safeParse(code);
    if (!reason.success) throw error;
    return { kind: 'unknown', reason: reason.data };
  }
}

async function readStatus(
  source: GitSource,
  repository: KnownRepository,
  deadline: Deadline,
): Promise<GitRepositoryStatus> {
  const { directory, gitDirectory, hasWorkingTree } = repository;
  const [head, operation] = await Promise.all([
    hasWorkingTree ? compare(source, repository, deadline) : readHead(source, directory, deadline),
    findOperation(gitDirectory),
  ]);
  const { isUntracked: _, ...told } = head;
  return {
    kind: 'repository',
    ...told,
    operation,
    hasWorkingTree,
  };
}

async function compare(
  source: GitSource,
  { directory, prefix, filters, environment }: KnownRepository,
  deadline: Deadline,
): Promise<ParsedStatus> {
  const run = async (untracked: 'normal' | 'all') => {
    const outcome = await runGit(source, {
      directory,
      args: [
        // Copies too, whatever the configuration says of renames.
        '-c',
        'status.renames=copies',
        'status',
        '--porcelain=v2',
        '-z',
        '--branch',
        '--find-renames',
        '--ignore-submodules=dirty',
        `--untracked-files=${untracked}`,
        '--',
        '.',
      ],
      effect: 'read',
      timeoutMs: deadline.remaining(),
      stdoutBytesMax: STATUS_BYTES_MAX,
      settings: filters,
      environment,
    });
    const isCut = outcome.stdout.length >= STATUS_BYTES_MAX;
    if (outcome.exitCode !== 0 && !(isCut && !outcome.timedOut)) throw gitFailure(outcome);
    return parseStatus(outcome.stdout, prefix, isCut);
  };
  const parsed = await run('normal');
  // Nothing of the workspace is tracked: one entry for all of it would have no name in it.
  return parsed.isUntracked ? run('all') : parsed;
}

/** Where there is nothing to compare. */
async function readHead(source: GitSource, directory: string, deadline: Deadline): Promise<ParsedStatus> {
  const [commit, symbolic] = await Promise.all([
    findCommit(source, directory, 'HEAD', deadline),
    runGit(source, {
      directory,
      args: ['symbolic-ref', '--quiet', 'HEAD'],
      effect: 'read',
      timeoutMs: deadline.remaining(),
      stdoutBytesMax: STATUS_BYTES_MAX,
    }),
  ]);
  if (symbolic.exitCode !== 0 && symbolic.exitCode !== 1) throw gitFailure(symbolic);
  const name = symbolic.stdout.toString('utf8').replace(/\n$/, '');
  return {
    branch: name === '' ? null : name.replace(/^refs\/heads\//, ''),
    commit,
    upstream: null,
    entries: [],
    entriesCut: false,
    unnameable: 0,
    isUntracked: false,
  };
}

/** What git leaves in its directory while it is in the middle of something. The first that is there counts. */
const TRACES: readonly (readonly [string, GitOperation])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply/applying', 'apply'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
];

async function findOperation(gitDirectory: string): Promise<GitOperation | null> {
  const found = await Promise.all(
    TRACES.map(async ([name, operation]) =>
      access(join(gitDirectory, name)).then(
        () => operation,
        () => null,
      ),
    ),
  );
  return found.find((operation) => operation !== null) ?? null;
}
