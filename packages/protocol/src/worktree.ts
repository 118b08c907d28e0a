import * as z from 'zod';
import { SessionId, SessionName, WorkspaceId } from './ids.ts';

/**
 * How worktrees of a workspace are made and removed. off: not at all through this node. manual: by hand. managed: by the node
 * alone, for launches that ask for one.
 */
export const WorktreeServiceMode = z.enum(['off', 'manual', 'managed']);
export type WorktreeServiceMode = z.infer<typeof WorktreeServiceMode>;

/** A worktree of a repository, as git lists it, with what the node knows of it. */
export const Worktree = z.object({
  /** As git wrote it down. */
  path: z.string(),
  /** Full id of its commit; null before the first one, and for a bare repository. */
  head: z.string().nullable(),
  /** Without `refs/heads/`; null when detached. */
  branch: z.string().nullable(),
  /** The first of the repository: it is never removed. */
  isMain: z.boolean(),
  isBare: z.boolean(),
  /** Why it is locked, '' without a reason; null when it is not. */
  locked: z.string().nullable(),
  /** Why git would forget it, such as a directory that is gone; null when it would not. */
  prunable: z.string().nullable(),
  /** The workspace registered at exactly that directory. */
  workspaceId: WorkspaceId.nullable(),
  /** Sessions that live in it, at most 64. */
  sessions: z.array(z.object({ sessionId: SessionId, name: SessionName })),
  /** Whether it holds anything uncommitted or untracked; null when that was not asked, or could not be known in time. */
  dirty: z.boolean().nullable(),
});
export type Worktree = z.infer<typeof Worktree>;

/** What was begun with a worktree and did not end, and could not be put right by evidence alone. */
export const WorktreeRecovery = z.object({
  path: z.string(),
  act: z.enum(['create', 'remove']),
  branch: z.string().nullable(),
  /** running: git has not ended yet. incomplete: it stands there in part. foreign: what stands there is not what was begun. */
  why: z.enum(['running', 'incomplete', 'foreign', 'unknown']),
  since: z.iso.datetime(),
});
export type WorktreeRecovery = z.infer<typeof WorktreeRecovery>;
