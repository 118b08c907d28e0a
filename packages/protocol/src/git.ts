/** What git says about a workspace, as clients see it. Paths are relative to the workspace, never to the repository's top. */
import * as z from 'zod';
import {
  BRANCH_BYTES_MAX,
  GIT_DIFF_FILES_MAX,
  GIT_HISTORY_PAGE_MAX,
  GIT_REVISION_BYTES_MAX,
  GIT_STATUS_ENTRIES_MAX,
} from './bounds.ts';
import { boundedText } from './bounded-text.ts';
import { RepositoryPath } from './repository-path.ts';

/** Full id of a commit: 40 (SHA-1) or 64 (SHA-256) hexadecimal digits. */
export const GitObjectId = z
  .string()
  .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, 'a commit id is 40 or 64 hexadecimal digits');
export type GitObjectId = z.infer<typeof GitObjectId>;

/** What a caller names a commit by: a branch, a tag, an id, `HEAD~2`. Never an option: no leading dash, no control characters. */
export const GitRevision = boundedText(GIT_REVISION_BYTES_MAX)
  .refine((text) => text !== '' && !text.startsWith('-'), 'a revision is not empty and begins with no dash')
  .refine((text) => !/\p{Cc}/u.test(text) && text.isWellFormed(), 'a revision has no control characters');
export type GitRevision = z.infer<typeof GitRevision>;

/** A branch without `refs/heads/`. Whether git takes it is asked when it is used. */
export const BranchName = boundedText(BRANCH_BYTES_MAX)
  .refine(
    (name) => name.length > 0 && !name.startsWith('-'),
    'a branch name is not empty and begins with no dash',
  )
  .refine((name) => !/[\p{Cc}\s]/u.test(name), 'a branch name holds no blanks and no control characters');
export type BranchName = z.infer<typeof BranchName>;

/** One side of a status entry. `untracked` and `conflicted` stand on both sides. */
export const GitChange = z.enum([
  'unmodified',
  'modified',
  'type-changed',
  'added',
  'deleted',
  'renamed',
  'copied',
  'untracked',
  'conflicted',
]);
export type GitChange = z.infer<typeof GitChange>;

/** What both sides of an unfinished merge did to a path. */
export const GitConflict = z.enum([
  'both-deleted',
  'added-by-us',
  'deleted-by-them',
  'added-by-them',
  'deleted-by-us',
  'both-added',
  'both-modified',
]);
export type GitConflict = z.infer<typeof GitConflict>;

export const GitStatusEntry = z.object({
  path: RepositoryPath,
  /** Where it was renamed or copied from; null otherwise, or when that is not inside the workspace. */
  previousPath: RepositoryPath.nullable(),
  /** From HEAD to the index. */
  index: GitChange,
  /** From the index to the working tree. */
  worktree: GitChange,
  /** Only when conflicted. */
  conflict: GitConflict.nullable(),
  /** null for what is no submodule. What is changed inside of one is not looked at. */
  submodule: z.object({ commitChanged: z.boolean() }).nullable(),
  /** A whole untracked directory, as one entry. */
  isDirectory: z.boolean(),
});
export type GitStatusEntry = z.infer<typeof GitStatusEntry>;

/** What git is in the middle of. */
export const GitOperation = z.enum(['merge', 'rebase', 'apply', 'cherry-pick', 'revert', 'bisect']);
export type GitOperation = z.infer<typeof GitOperation>;

/** Why git could not tell. */
export const GitUnknownReason = z.enum([
  'git-not-installed',
  'git-timed-out',
  'git-failed',
  'git-ownership-refused',
]);
export type GitUnknownReason = z.infer<typeof GitUnknownReason>;

export const GitRepositoryStatus = z.object({
  kind: z.literal('repository'),
  /** Without `refs/heads/`; null when HEAD is detached. A branch without commits has a name too. */
  branch: z.string().nullable(),
  /** null before the first commit. */
  commit: GitObjectId.nullable(),
  upstream: z
    .object({
      branch: z.string(),
      /** Commits that only one side has; null when the upstream branch is gone. */
      ahead: z.int().nonnegative().nullable(),
      behind: z.int().nonnegative().nullable(),
    })
    .nullable(),
  operation: GitOperation.nullable(),
  /** False in a bare repository or inside of `.git`: there is nothing to compare. */
  hasWorkingTree: z.boolean(),
  entries: z.array(GitStatusEntry).max(GIT_STATUS_ENTRIES_MAX),
  /** There are more entries than these. */
  entriesCut: z.boolean(),
  /** Entries left out because their path is no text, or too long. */
  unnameable: z.int().nonnegative(),
});
export type GitRepositoryStatus = z.infer<typeof GitRepositoryStatus>;

export const GitStatus = z.discriminatedUnion('kind', [
  GitRepositoryStatus,
  z.object({ kind: z.literal('not-a-repository') }),
  /** Never taken for the absence of a repository. */
  z.object({ kind: z.literal('unknown'), reason: GitUnknownReason }),
]);
export type GitStatus = z.infer<typeof GitStatus>;

const Person = z.object({ name: z.string(), email: z.string() });

export const GitCommit = z.object({
  id: GitObjectId,
  parents: z.array(GitObjectId),
  /** First line of the message, without control characters. */
  subject: z.string(),
  author: Person,
  /** With the offset of its author's clock; null when the commit holds no such moment. */
  authoredAt: z.iso.datetime({ offset: true }).nullable(),
  committer: Person,
  committedAt: z.iso.datetime({ offset: true }).nullable(),
});
export type GitCommit = z.infer<typeof GitCommit>;

/** Where a page of history goes on: a commit, and how many commits from there were told. */
export const GitHistoryCursor = z
  .string()
  .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64}):[0-9]{1,9}$/, 'no cursor of a history');
export type GitHistoryCursor = z.infer<typeof GitHistoryCursor>;

export const GitHistoryPage = z.object({
  /** Newest first; empty before the first commit. */
  commits: z.array(GitCommit).max(GIT_HISTORY_PAGE_MAX),
  /** null when there are no more. */
  nextCursor: GitHistoryCursor.nullable(),
});
export type GitHistoryPage = z.infer<typeof GitHistoryPage>;

/** What is compared. */
export const GitDiffTarget = z.discriminatedUnion('kind', [
  /** The index with the working tree. */
  z.strictObject({ kind: z.literal('working') }),
  /** HEAD with the index. */
  z.strictObject({ kind: z.literal('staged') }),
  /** A commit with its first parent, the first commit with nothing. */
  z.strictObject({ kind: z.literal('commit'), commit: GitRevision }),
  /** A commit with the working tree; untracked files count as added. */
  z.strictObject({
    kind: z.literal('since'),
    base: GitRevision,
    includeUntracked: z.boolean().default(true),
  }),
]);
export type GitDiffTarget = z.infer<typeof GitDiffTarget>;

export const GitDiffFile = z.object({
  path: RepositoryPath,
  previousPath: RepositoryPath.nullable(),
  status: z.enum(['added', 'modified', 'deleted', 'renamed', 'copied', 'type-changed', 'conflicted']),
  /** Six octal digits as git writes them (100644, 100755, 120000, 160000); null where there is no file on that side. */
  previousMode: z.string().nullable(),
  mode: z.string().nullable(),
  binary: z.boolean(),
  /** Lines; null for binary files, and when they were not counted before the answer was cut. */
  additions: z.int().nonnegative().nullable(),
  deletions: z.int().nonnegative().nullable(),
});
export type GitDiffFile = z.infer<typeof GitDiffFile>;

export const GitDiff = z.object({
  /** Full id of the commit that is compared with; null for the index, and for nothing at all. */
  base: GitObjectId.nullable(),
  files: z.array(GitDiffFile).max(GIT_DIFF_FILES_MAX),
  /** There are more files than these. */
  filesCut: z.boolean(),
  /** Files left out because their path is no text, or too long. */
  unnameable: z.int().nonnegative(),
  /** Unified diff of everything that was asked for, as git writes it. */
  patch: z.string(),
  /** The text ends early, at the end of a line. */
  patchCut: z.boolean(),
  /** Something in the text is not UTF-8 and shown as replacement characters: the patch cannot be applied as it is. */
  patchLossy: z.boolean(),
});
export type GitDiff = z.infer<typeof GitDiff>;
