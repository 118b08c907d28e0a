/** What a workspace holds, as one bounded answer tells it: the upper part of its tree, and what git says of it. */
import * as z from 'zod';
import { INSPECTED_COMMITS_MAX, INSPECTED_ENTRIES_MAX, INSPECTED_WORKTREES_MAX } from './bounds.ts';
import { GitObjectId, GitStatus } from './git.ts';
import { gated } from './gates.ts';
import { LeaseId, WorkspaceId } from './ids.ts';
import { lazySchema } from './lazy-schema.ts';
import { RepositoryPath } from './repository-path.ts';

/** Why something of a tree is missing. Several may hold. */
export const TreeCut = z.enum([
  /** Directories lie deeper than the walk goes. */
  'depth',
  /** More entries than one answer holds; those that are nearest to the root were kept. */
  'entries',
  /** More entries were looked at than the configuration allows. */
  'visits',
  /** The time was over. */
  'time',
  /** Something could not be read. */
  'unreadable',
  /** Names that are no text, or no path that another operation would take. */
  'names',
]);
export type TreeCut = z.infer<typeof TreeCut>;

export const TreeEntry = z.object({
  path: RepositoryPath,
  /** `link`: a symbolic link, whatever it leads to; it is not followed. `other`: a socket, a pipe, a device. */
  kind: z.enum(['file', 'directory', 'link', 'other']),
  /** A directory that is shown and not walked: `.git`, `node_modules`, `target`, or tagged as a cache. */
  skipped: z.boolean(),
});
export type TreeEntry = z.infer<typeof TreeEntry>;

export const WorkspaceTree = lazySchema(() =>
  z.object({
    /** By path, as UTF-8 bytes. */
    entries: z.array(TreeEntry).max(INSPECTED_ENTRIES_MAX),
    /** Empty when this is all of it. */
    cuts: z.array(TreeCut),
    /** Entries that were looked at. */
    visited: z.int().nonnegative(),
  }),
);
export type WorkspaceTree = z.infer<typeof WorkspaceTree>;

export const InspectedCommit = z.object({ id: GitObjectId, subject: z.string() });

export const InspectedWorktree = z.object({
  path: z.string(),
  /** null on an unborn branch, and where there is no working tree. */
  head: z.string().nullable(),
  /** null when detached. */
  branch: z.string().nullable(),
  isMain: z.boolean(),
  isBare: z.boolean(),
  /** Why it is locked, which may be said in no words; null when it is not. */
  locked: z.string().nullable(),
  prunable: z.string().nullable(),
  /** The registered workspace with this root. */
  workspaceId: WorkspaceId.nullable(),
});

/** A part of what git says that is not whole. */
export const GitCut = z.object({
  of: z.enum(['commits', 'worktrees']),
  /** `time`: git did not answer in time. `entries`: there are more. `failed`: git could not tell; the node log has more. */
  why: z.enum(['time', 'entries', 'failed']),
});
export type GitCut = z.infer<typeof GitCut>;

/** The lease that this workspace is, as long as its branch is checked out here and somebody needs it. */
export const InspectedLease = z.object({
  leaseId: LeaseId,
  sourceWorkspaceId: WorkspaceId,
  branch: z.string(),
  baseCommit: GitObjectId,
  /** Live sessions, and resumable records; at least one of both. */
  sessions: z.int().nonnegative(),
  records: z.int().nonnegative(),
});
export type InspectedLease = z.infer<typeof InspectedLease>;

export const InspectedGit = lazySchema(() =>
  z.object({
    /** Whether there is a repository at all, its branch, and its first entries. */
    status: GitStatus,
    /** Newest first. */
    commits: z.array(InspectedCommit).max(INSPECTED_COMMITS_MAX),
    /** The main one first. */
    worktrees: z.array(InspectedWorktree).max(INSPECTED_WORKTREES_MAX),
    cuts: z.array(GitCut),
    /** Absent for what is no managed worktree, is on another branch, or is not known to be on its own. */
    managedWorktree: gated('managed-worktree-lifecycle-v1', InspectedLease.optional()),
  }),
);
export type InspectedGit = z.infer<typeof InspectedGit>;

export const WorkspaceInspection = lazySchema(() =>
  z.object({
    workspaceId: WorkspaceId,
    tree: WorkspaceTree,
    git: InspectedGit,
    elapsedMs: z.int().nonnegative(),
  }),
);
export type WorkspaceInspection = z.infer<typeof WorkspaceInspection>;
