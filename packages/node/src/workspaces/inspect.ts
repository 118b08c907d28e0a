// One bounded look at a workspace: its tree and its repository, both at the same time and by the same deadline, so that neither a huge
// tree nor a slow git keeps the other from its answer. Whatever is there when the time is over is the answer.
import {
  FailureError,
  type InspectedGit,
  type InspectedLease,
  type Workspace,
  type WorkspaceInspection,
} from '@roost/protocol';
import type { Handlers } from '../control/handlers.ts';
import type { Slots } from '../control/slots.ts';
import { Deadline } from '../deadline.ts';
import type { Sql } from '@roost/storage';
import { activeLease, holdersOf } from '../managed-worktrees/lease-table.ts';
import { GitInspection, type GitInspectionScene } from './inspect-git.ts';
import { TreeWalk } from './tree-walk.ts';
import { findWorkspace, listWorkspaces } from './workspaces.ts';

export interface InspectionScene extends GitInspectionScene {
  readonly store: { readonly sql: Sql };
  readonly slots: Slots;
  readonly limits: { readonly budgetMs: number; readonly entriesMax: number };
}

export function inspectionOperations(scene: InspectionScene): Pick<Handlers, 'workspace.inspect'> {
  const { store, slots, limits } = scene;
  return {
    'workspace.inspect': async ({ workspaceId }): Promise<WorkspaceInspection> => {
      const giveBack = slots.take();
      const workspace = findWorkspace(store.sql, workspaceId);
      if (workspace === null) {
        giveBack();
        throw new FailureError('unknown-workspace', { workspaceId });
      }
      const startedAt = performance.now();
      const deadline = Deadline.in(limits.budgetMs);
      const walk = new TreeWalk(workspace.root, { deadline, visitsMax: limits.entriesMax });
      const git = new GitInspection(scene, workspace.root, deadline);
      const walking = walk.run();
      const asking = git.run();
      // A disk that does not answer keeps the slot until it does.
      void Promise.allSettled([walking, asking]).then(giveBack);
      await deadline.race(Promise.all([walking, asking]));
      return {
        workspaceId,
        tree: walk.tree,
        git: withLease(withWorkspaces(git.result, store.sql), store.sql, workspace),
        elapsedMs: Math.round(performance.now() - startedAt),
      };
    },
  };
}

/** Which of the worktrees are registered. */
function withWorkspaces(git: InspectedGit, sql: Sql): InspectedGit {
  if (git.worktrees.length === 0) return git;
  const ids = new Map(listWorkspaces(sql).map(({ root, id }) => [root, id]));
  const worktrees = git.worktrees.map((one) => ({ ...one, workspaceId: ids.get(one.path) ?? null }));
  return { ...git, worktrees };
}

/** Only what git says now and what is stored agree on: this directory, on the branch of the lease, with somebody who needs it. */
function withLease(git: InspectedGit, sql: Sql, { id, root }: Pick<Workspace, 'id' | 'root'>): InspectedGit {
  const { status } = git;
  const lease = activeLease(sql, id);
  if (lease?.target !== root) return git;
  if (status.kind !== 'repository' || status.branch !== lease.branch) return git;
  const holders = holdersOf(sql, lease.id);
  if (holders.sessions + holders.records === 0) return git;
  const managedWorktree: InspectedLease = {
    leaseId: lease.id,
    sourceWorkspaceId: lease.source_workspace_id,
    branch: lease.branch,
    baseCommit: lease.base_commit,
    ...holders,
  };
  return { ...git, managedWorktree };
}
