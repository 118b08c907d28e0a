import * as z from 'zod';
import { AbsolutePath, WorkspaceId } from '../ids.ts';
import { operation, workspacesLock } from '../operation.ts';
import { BranchName } from '../git.ts';
import { Workspace } from '../workspace.ts';
import { WorkspaceInspection } from '../workspace-inspection.ts';

export const workspaceRegister = operation({
  name: 'workspace.register',
  summary: 'Registers a directory; without an id, one is made from its base name.',
  access: 'controller',
  capability: null,
  params: () => z.strictObject({ root: AbsolutePath, workspaceId: WorkspaceId.optional() }),
  result: () => Workspace,
  failures: [
    'invalid-workspace-root',
    'duplicate-workspace-id',
    'duplicate-workspace-root',
    'session-record-conflict',
    'workspaces-exhausted',
    'worktree-changing',
    'worktree-managed',
  ],
  locks: () => [workspacesLock()],
});

export const workspaceList = operation({
  name: 'workspace.list',
  summary: 'Lists the registered workspaces, by id.',
  access: 'observer',
  capability: null,
  params: () => z.strictObject({}),
  result: () => z.object({ workspaces: z.array(Workspace) }),
  failures: [],
});

export const workspaceUnregister = operation({
  name: 'workspace.unregister',
  summary: 'Forgets a workspace; nothing in its directory is touched. Refused while it has live sessions.',
  access: 'controller',
  capability: null,
  params: () => z.strictObject({ workspaceId: WorkspaceId }),
  result: () => z.object({}),
  failures: ['unknown-workspace', 'workspace-busy', 'worktree-managed'],
  locks: () => [workspacesLock()],
});

export const workspaceCreateStandalone = operation({
  name: 'workspace.createStandalone',
  summary:
    'Makes a repository from nothing and registers it. Its directory must be empty or not there yet; nothing is ever deleted.',
  access: 'controller',
  capability: 'standalone-workspace-lifecycle-v1',
  params: () =>
    z.strictObject({
      /** Its parent must be there. */
      root: AbsolutePath,
      /** From the name of the directory when there is none. */
      workspaceId: WorkspaceId.optional(),
      /** The first branch; git's own choice when there is none. */
      branch: BranchName.optional(),
    }),
  result: () => Workspace,
  failures: [
    'invalid-workspace-root',
    'duplicate-workspace-id',
    'duplicate-workspace-root',
    'session-record-conflict',
    'worktree-changing',
    'workspaces-exhausted',
    'standalone-workspace-recovery-required',
    'git-not-installed',
    'git-timed-out',
    'git-failed',
  ],
  locks: () => [workspacesLock()],
});

export const workspaceInspect = operation({
  name: 'workspace.inspect',
  summary:
    'Shows the upper part of the tree of a workspace and what git says of it, within fixed bounds; what is missing is said.',
  access: 'observer',
  capability: null,
  params: () => z.strictObject({ workspaceId: WorkspaceId }),
  result: () => WorkspaceInspection,
  failures: ['unknown-workspace', 'backend-busy'],
});
