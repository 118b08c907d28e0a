import * as z from 'zod';
import { AbsolutePath, WorkspaceId } from '../ids.ts';
import { operation, workspacesLock } from '../operation.ts';
import { Workspace } from '../workspace.ts';

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
