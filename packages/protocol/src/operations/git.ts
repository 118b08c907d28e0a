import * as z from 'zod';
import { GIT_HISTORY_PAGE_MAX } from '../bounds.ts';
import { GitDiff, GitDiffTarget, GitHistoryCursor, GitHistoryPage, GitObjectId, GitStatus } from '../git.ts';
import { AbsolutePath, SessionId, WorkspaceId } from '../ids.ts';
import { operation } from '../operation.ts';
import { RepositoryPath } from '../repository-path.ts';

/** What any question to git about a directory can end with. */
export const REPOSITORY_FAILURES = [
  'not-git-repository',
  'no-working-tree',
  'git-ownership-refused',
  'git-failed',
  'git-timed-out',
  'git-not-installed',
] as const;

/** What reading a repository can be refused with. */
const READ_FAILURES = ['backend-busy', ...REPOSITORY_FAILURES, 'invalid-revision'] as const;

export const gitStatus = operation({
  name: 'git.status',
  summary:
    'Tells branch, upstream, unfinished operation and changed files of a workspace; a git that could not tell is unknown, never no repository.',
  access: 'observer',
  capability: 'git-read-v1',
  params: () => z.strictObject({ workspaceId: WorkspaceId }),
  result: () => z.object({ workspaceId: WorkspaceId, status: GitStatus }),
  failures: ['unknown-workspace', 'invalid-workspace-root', 'backend-busy'],
});

export const gitHistory = operation({
  name: 'git.history',
  summary:
    'Lists commits in pages, newest first; later pages go on from where the first began, whatever is committed meanwhile.',
  access: 'operator',
  capability: 'git-read-v1',
  params: () =>
    z.strictObject({
      workspaceId: WorkspaceId,
      /** Only commits that changed it. */
      path: RepositoryPath.optional(),
      cursor: GitHistoryCursor.optional(),
      limit: z.int().positive().max(GIT_HISTORY_PAGE_MAX).default(GIT_HISTORY_PAGE_MAX),
    }),
  result: () => GitHistoryPage,
  failures: ['unknown-workspace', 'invalid-workspace-root', ...READ_FAILURES],
});

export const gitDiff = operation({
  name: 'git.diff',
  summary:
    'Shows what changed: files with their numbers of lines, and the text of the difference, cut at a bound.',
  access: 'operator',
  capability: 'git-read-v1',
  params: () =>
    z.strictObject({
      workspaceId: WorkspaceId,
      what: GitDiffTarget,
      /** Only this file or directory. */
      path: RepositoryPath.optional(),
    }),
  result: () => GitDiff,
  failures: ['unknown-workspace', 'invalid-workspace-root', ...READ_FAILURES],
});

export const sessionDiff = operation({
  name: 'session.diff',
  summary:
    'Shows what changed in the working tree of a session since it was started, committed or not, new files included.',
  access: 'operator',
  capability: 'git-read-v1',
  params: () => z.strictObject({ sessionId: SessionId, path: RepositoryPath.optional() }),
  result: () =>
    GitDiff.extend({
      /** Where HEAD was when the session was started. */
      base: GitObjectId,
      /** What the paths are relative to: the workspace, or the repository of the session inside of it. */
      directory: AbsolutePath,
    }),
  failures: [
    'unknown-session',
    'unknown-workspace',
    'invalid-directory',
    'session-base-unknown',
    ...READ_FAILURES,
  ],
});
