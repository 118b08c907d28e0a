// Commits in pages. A page is a walk from one fixed commit that leaves out what was told: merged branches are neither skipped nor told
// twice, the first commit is the end like any other, and what is committed meanwhile moves nothing.
import { FailureError, GitObjectId, type GitHistoryPage, type RepositoryPath } from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import { gitFailure } from './git-failure.ts';
import { HISTORY_FORMAT, parseHistory } from './parse-history.ts';
import { findCommit, findRepository } from './repository.ts';
import { runGit, type GitSource } from './run-git.ts';

export interface HistoryRequest {
  /** Only commits that changed it. */
  readonly path: RepositoryPath | null;
  /** Where the page before ended; null for the first. */
  readonly cursor: string | null;
  readonly limit: number;
}

/** Bytes of one page: some have subjects without an end. */
const PAGE_BYTES_MAX = 1024 * 1024;

/** @throws FailureError: git-*, not-git-repository, invalid-revision when the first page's commit is gone. */
export async function readGitHistory(
  source: GitSource,
  directory: string,
  { path, cursor, limit }: HistoryRequest,
  deadline: Deadline,
): Promise<GitHistoryPage> {
  const [from = 'HEAD', told = '0'] = cursor?.split(':') ?? [];
  const [repository, tip] = await Promise.all([
    findRepository(source, directory, deadline),
    findCommit(source, directory, from, deadline),
  ]);
  if (tip === null) {
    if (cursor !== null) throw new FailureError('invalid-revision', { revision: from });
    return { commits: [], nextCursor: null };
  }
  // The whole history, unless the workspace is only a part of the repository: a path makes git simplify.
  const within = path ?? (repository.prefix.length > 0 ? '.' : null);
  const outcome = await runGit(source, {
    directory,
    args: [
      'log',
      '-z',
      HISTORY_FORMAT,
      '--encoding=UTF-8',
      '--no-show-signature',
      '--no-follow',
      '--no-patch',
      '--no-color',
      `--max-count=${limit + 1}`,
      `--skip=${told}`,
      tip,
      '--',
      ...(within === null ? [] : [within]),
    ],
    effect: 'read',
    timeoutMs: deadline.remaining(),
    stdoutBytesMax: PAGE_BYTES_MAX,
  });
  const isCut = outcome.stdout.length >= PAGE_BYTES_MAX;
  if (outcome.exitCode !== 0 && !(isCut && !outcome.timedOut)) throw gitFailure(outcome);
  const found = parseHistory(outcome.stdout);
  const commits = found.slice(0, limit);
  const hasMore = found.length > limit || isCut;
  const next = Number(told) + commits.length;
  return { commits, nextCursor: hasMore && commits.length > 0 ? `${GitObjectId.parse(tip)}:${next}` : null };
}
