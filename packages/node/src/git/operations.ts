// The operations that read a repository. They share the slots of everything that looks into workspaces, and never change anything.
import { FailureError, type WorkspaceId } from '@roost/protocol';
import type { Handlers } from '../control/handlers.ts';
import type { Slots } from '../control/slots.ts';
import { Deadline } from '../deadline.ts';
import { locateById } from '../sessions/locate-session.ts';
import type { SessionRow } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';
import { deepestRootAround, locate } from '../workspaces/locate.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { readGitDiff } from './diff.ts';
import { readGitHistory } from './history.ts';
import type { GitSource } from './run-git.ts';
import { readGitStatus } from './status.ts';

interface GitScene {
  readonly store: Store;
  readonly slots: Slots;
  readonly source: GitSource;
}

/** Milliseconds of one read, of all its steps together. */
const READ_MS = 8_000;

export function gitOperations({
  store,
  slots,
  source,
}: GitScene): Pick<Handlers, 'git.status' | 'git.history' | 'git.diff' | 'session.diff'> {
  /** Where the workspace is, as long as it is still there. */
  const rootOf = async (workspaceId: WorkspaceId): Promise<string> => {
    const workspace = findWorkspace(store.sql, workspaceId);
    if (workspace === null) throw new FailureError('unknown-workspace', { workspaceId });
    const location = await locate(workspace.root);
    if (location?.directory !== workspace.root) {
      throw new FailureError('invalid-workspace-root', { root: workspace.root });
    }
    return workspace.root;
  };

  /** The workspace of the session, unless its repository is a part of that. */
  const directoryOf = async (row: SessionRow): Promise<string> => {
    const { directory, workspace_id: workspaceId } = row;
    const workspace = findWorkspace(store.sql, workspaceId);
    if (workspace === null) throw new FailureError('unknown-workspace', { workspaceId });
    const location = await locate(directory);
    if (location?.directory !== directory) throw new FailureError('invalid-directory', { directory });
    if (location.gitRoot === null) throw new FailureError('not-git-repository');
    return deepestRootAround(directory, [workspace.root, location.gitRoot]) ?? location.gitRoot;
  };

  return {
    'git.status': ({ workspaceId }) =>
      slots.run(async () => ({
        workspaceId,
        status: await readGitStatus(source, await rootOf(workspaceId), Deadline.in(READ_MS)),
      })),

    'git.history': ({ workspaceId, path = null, cursor = null, limit }) =>
      slots.run(async () =>
        readGitHistory(source, await rootOf(workspaceId), { path, cursor, limit }, Deadline.in(READ_MS)),
      ),

    'git.diff': ({ workspaceId, what, path = null }) =>
      slots.run(async () =>
        readGitDiff(source, await rootOf(workspaceId), { what, path }, Deadline.in(READ_MS)),
      ),

    'session.diff': ({ sessionId, path = null }, caller) =>
      slots.run(async () => {
        const row = locateById(store.sql, caller, sessionId);
        const base = row.base_commit;
        if (base === null) throw new FailureError('session-base-unknown', { sessionId });
        const directory = await directoryOf(row);
        const what = { kind: 'since', base, includeUntracked: true } as const;
        const diff = await readGitDiff(source, directory, { what, path }, Deadline.in(READ_MS));
        return { ...diff, base, directory };
      }),
  };
}
