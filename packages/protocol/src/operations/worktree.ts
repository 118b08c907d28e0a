import * as z from 'zod';
import { boundedText } from '../bounded-text.ts';
import { GIT_REVISION_BYTES_MAX, WORKTREE_DEADLINE_MS_MAX } from '../bounds.ts';
import { BranchName } from '../git.ts';
import { AbsolutePath, WorkspaceId } from '../ids.ts';
import { operation } from '../operation.ts';
import { Worktree, WorktreeRecovery, WorktreeServiceMode } from '../worktree.ts';
import { Workspace } from '../workspace.ts';
import { REPOSITORY_FAILURES } from './git.ts';

/** What any question to git about a workspace can end with. */
const WORKSPACE_FAILURES = ['unknown-workspace', 'invalid-workspace-root', ...REPOSITORY_FAILURES] as const;

export const worktreeList = operation({
  name: 'worktree.list',
  summary:
    "Lists the worktrees of a workspace's repository, the main one first, and what was begun with one and did not end.",
  access: 'observer',
  capability: 'worktree-lifecycle-v1',
  params: () =>
    z.strictObject({
      workspaceId: WorkspaceId,
      /** Looks into each of them whether it holds anything uncommitted. */
      withChanges: z.boolean().default(false),
    }),
  result: () =>
    z.object({
      mode: WorktreeServiceMode,
      worktrees: z.array(Worktree),
      recoveries: z.array(WorktreeRecovery),
    }),
  failures: [...WORKSPACE_FAILURES, 'backend-busy'],
});

export const worktreeCreate = operation({
  name: 'worktree.create',
  summary:
    'Makes a worktree for a branch and registers it as a workspace. Nothing that exists is taken over unasked.',
  access: 'controller',
  capability: 'worktree-lifecycle-v1',
  params: () =>
    z.strictObject({
      sourceWorkspaceId: WorkspaceId,
      /** The id of the new workspace; made from its directory unless given. */
      workspaceId: WorkspaceId.optional(),
      /** Where it goes, absent until now; beside the main checkout in `<repository>.worktrees/` unless given. */
      targetRoot: AbsolutePath.optional(),
      branch: BranchName,
      /** The commit at which a new branch begins; the source workspace's own unless given. */
      base: boundedText(GIT_REVISION_BYTES_MAX).optional(),
      /** Checks out an existing branch, which no worktree holds, instead of making one. */
      adopt: z.boolean().default(false),
      /** Milliseconds for git. */
      deadlineMs: z.int().min(1).max(WORKTREE_DEADLINE_MS_MAX).default(WORKTREE_DEADLINE_MS_MAX),
    }),
  result: () =>
    z.object({
      worktree: Worktree,
      workspace: Workspace,
      /** Refs that keep commits of a worktree whose directory was gone and whose entry gave way. */
      recoveryRefs: z.array(z.string()),
    }),
  failures: [
    ...WORKSPACE_FAILURES,
    'worktree-service-mode',
    'worktree-changing',
    'worktree-conflict',
    'worktree-protected',
    'worktree-locked',
    'worktree-in-use',
    'worktree-recovery-required',
    'branch-exists',
    'invalid-revision',
    'duplicate-workspace-id',
    'duplicate-workspace-root',
    'session-record-conflict',
    'workspaces-exhausted',
  ],
});

export const worktreeRemove = operation({
  name: 'worktree.remove',
  summary:
    'Removes a worktree that holds nothing of its own, and its workspace. Its branch stays; commits that no branch reaches get a recovery ref.',
  access: 'controller',
  capability: 'worktree-lifecycle-v1',
  params: () =>
    z.strictObject({
      sourceWorkspaceId: WorkspaceId,
      targetRoot: AbsolutePath,
      /** Deletes ignored files with it; refused while there are any otherwise. */
      discardIgnored: z.boolean().default(false),
    }),
  result: () =>
    z.object({
      /** As it was asked for. */
      targetRoot: z.string(),
      /** The workspace that went with it. */
      workspaceId: WorkspaceId.nullable(),
      /** Refs that keep commits which nothing else would keep. */
      recoveryRefs: z.array(z.string()),
    }),
  failures: [
    ...WORKSPACE_FAILURES,
    'worktree-service-mode',
    'worktree-changing',
    'worktree-protected',
    'worktree-locked',
    'worktree-dirty',
    'worktree-in-use',
    'worktree-recovery-required',
  ],
});
