import * as z from 'zod';
import { noted } from './gates.ts';
import { WorkspaceId } from './ids.ts';

/** What git said of a working tree when the node last looked. */
export const WorkspaceGit = z.object({
  /** null when detached. */
  branch: z.string().nullable(),
  /** Full id; null on an unborn branch. */
  head: z.string().nullable(),
  /** Entries that differ from `head`, in the index or in the working tree; untracked ones not among them. */
  changed: z.int().nonnegative(),
  /** Untracked files and directories, a directory once for all that is in it. */
  untracked: z.int().nonnegative(),
  /** There are more than the node counts. */
  truncated: z.boolean(),
  /** Since when it is known to be so. */
  observedAt: z.iso.datetime(),
});
export type WorkspaceGit = z.infer<typeof WorkspaceGit>;

export const Workspace = z.object({
  id: WorkspaceId,
  /** Canonical path: links resolved when it was registered. */
  root: z.string(),
  kind: z.enum(['git', 'plain']),
  createdAt: z.iso.datetime(),
  liveSessions: z.int().nonnegative(),
  /** null where it is not known: in no repository, or not looked at yet. Kept up while sessions live or somebody listens. */
  git: noted('git-read-v1', WorkspaceGit.nullable().optional()),
});
export type Workspace = z.infer<typeof Workspace>;
