// Registered directories. Registering and forgetting touch rows only, never the directory; only what is made from nothing is made.
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import {
  FailureError,
  LIVE_STATUSES,
  WorkspaceGit,
  WorkspaceId,
  WORKSPACES_MAX,
  type Workspace,
} from '@roost/protocol';
import type { Handlers } from '../control/handlers.ts';
import { requireNoSource, requireUnmanaged } from '../managed-worktrees/reservations.ts';
import { recordsOfWorkspace } from '../records/record-table.ts';
import {
  checkWorkspaceRoot,
  detachWorkspace,
  rememberedWorkspaceId,
  restoreWorkspace,
} from '../records/workspace-records.ts';
import type { Sql } from '@roost/storage';
import type { Store, Transaction } from '../store/store.ts';
import type { Reservations } from '../worktrees/reservations.ts';
import { deepestRootAround, locate, type Location } from './locate.ts';
import { makeStandalone, placeFor, type StandaloneScene } from './standalone.ts';
import { makeWorkspaceId } from './workspace-id.ts';

const Row = z.object({
  id: WorkspaceId,
  root: z.string(),
  kind: z.enum(['git', 'plain']),
  created_at: z.int(),
  live: z.int(),
  git: z.string().nullable(),
});

const SELECT = `SELECT id, root, kind, created_at, git,
  (SELECT count(*) FROM sessions
    WHERE workspace_id = workspaces.id AND status IN (${LIVE_STATUSES.map((status) => `'${status}'`).join(', ')})) AS live
  FROM workspaces`;

export type GitSummary = Omit<WorkspaceGit, 'observedAt'>;

export interface WorkspaceScene {
  readonly store: Store;
  /** Directories that are being made or removed. */
  readonly reservations: Pick<Reservations, 'requireFree' | 'take'>;
  readonly standalone: StandaloneScene;
}

export function workspaceOperations({
  store,
  reservations,
  standalone,
}: WorkspaceScene): Pick<
  Handlers,
  'workspace.register' | 'workspace.createStandalone' | 'workspace.list' | 'workspace.unregister'
> {
  return {
    'workspace.register': async ({ root, workspaceId }) => {
      const location = await locate(root);
      if (location === null) throw new FailureError('invalid-workspace-root', { root });
      return store.transact((transaction) => {
        reservations.requireFree(location.directory);
        requireUnmanaged(transaction.sql, {
          directory: location.directory,
          workspaceId: workspaceId ?? null,
        });
        return registerWorkspace(transaction, location, workspaceId);
      });
    },

    'workspace.createStandalone': async ({ root: asked, workspaceId, branch }) => {
      const place = await placeFor(asked);
      const { root } = place;
      requireRegistrable(store.sql, root, workspaceId);
      // Nobody starts a session or makes a worktree in it meanwhile.
      const giveBack = reservations.take(root);
      try {
        return await makeStandalone(standalone, place, branch, () =>
          store.transact((transaction) => {
            const location = { directory: root, gitRoot: root };
            return registerWorkspace(transaction, location, workspaceId);
          }),
        );
      } finally {
        giveBack();
      }
    },

    'workspace.list': () => ({ workspaces: listWorkspaces(store.sql) }),

    'workspace.unregister': ({ workspaceId }) => {
      store.transact((transaction) => {
        const workspace = findWorkspace(transaction.sql, workspaceId);
        if (workspace === null) throw new FailureError('unknown-workspace', { workspaceId });
        requireUnmanaged(transaction.sql, { directory: null, workspaceId });
        requireNoSource(transaction.sql, workspaceId);
        if (workspace.liveSessions > 0) {
          throw new FailureError('workspace-busy', { workspaceId, liveSessions: workspace.liveSessions });
        }
        unregisterWorkspace(transaction, workspaceId);
      });
      return {};
    },
  };
}

/**
 * Registers the directory itself.
 * @throws FailureError: duplicate-workspace-id, duplicate-workspace-root, session-record-conflict, workspaces-exhausted.
 */
export function registerWorkspace(
  transaction: Transaction,
  location: Location,
  workspaceId: WorkspaceId | undefined,
): Workspace {
  requireRegistrable(transaction.sql, location.directory, workspaceId);
  return insert(transaction, location.directory, location, workspaceId);
}

/** What would refuse a registration now. @throws FailureError as `registerWorkspace`. */
export function requireRegistrable(sql: Sql, root: string, workspaceId: WorkspaceId | undefined): void {
  if (workspaceId !== undefined && findWorkspace(sql, workspaceId) !== null) {
    throw new FailureError('duplicate-workspace-id', { workspaceId });
  }
  const there = findWorkspaceAt(sql, root);
  if (there !== null) throw new FailureError('duplicate-workspace-root', { workspaceId: there.id });
  if (workspaceId !== undefined) checkWorkspaceRoot(sql, workspaceId, root);
  requireRoom(sql);
}

/** Forgets it; its records cannot be resumed until it comes back. No session of it lives. */
export function unregisterWorkspace(transaction: Transaction, workspaceId: WorkspaceId): void {
  transaction.sql.run('DELETE FROM workspaces WHERE id = ?', workspaceId);
  transaction.append({ kind: 'workspace-unregistered', workspaceId });
  detachWorkspace(transaction, workspaceId);
}

/**
 * The workspace of a directory: the deepest registered one around it, else its git tree or itself, registered now.
 * `evenWhenFull`: for what runs there already, which cannot be refused.
 * @throws FailureError: workspaces-exhausted.
 */
export function workspaceAround(
  transaction: Transaction,
  location: Location,
  evenWhenFull = false,
): Workspace {
  const workspaces = listWorkspaces(transaction.sql);
  const root = deepestRootAround(
    location.directory,
    workspaces.map((one) => one.root),
  );
  const found = workspaces.find((one) => one.root === root);
  if (found !== undefined) return found;
  if (!evenWhenFull) requireRoom(transaction.sql);
  return insert(transaction, location.gitRoot ?? location.directory, location, undefined);
}

function requireRoom(sql: Sql): void {
  if (countWorkspaces(sql) >= WORKSPACES_MAX) {
    throw new FailureError('workspaces-exhausted', { limit: WORKSPACES_MAX });
  }
}

export function countWorkspaces(sql: Sql): number {
  return z.object({ count: z.int() }).parse(sql.get('SELECT count(*) AS count FROM workspaces')).count;
}

export function listWorkspaces(sql: Sql): Workspace[] {
  return sql.all(`${SELECT} ORDER BY id`).map(view);
}

export function findWorkspace(sql: Sql, id: string): Workspace | null {
  const row = sql.get(`${SELECT} WHERE id = ?`, id);
  return row === undefined ? null : view(row);
}

export function findWorkspaceAt(sql: Sql, root: string): Workspace | null {
  const row = sql.get(`${SELECT} WHERE root = ?`, root);
  return row === undefined ? null : view(row);
}

function insert(
  transaction: Transaction,
  root: string,
  location: Location,
  id: WorkspaceId | undefined,
): Workspace {
  const { sql, append } = transaction;
  const workspaceId = id ?? freeWorkspaceId(sql, root);
  sql.run(
    'INSERT INTO workspaces (id, root, kind, created_at) VALUES (?, ?, ?, ?)',
    workspaceId,
    root,
    location.gitRoot === null ? 'plain' : 'git',
    Date.now(),
  );
  const workspace = findWorkspace(sql, workspaceId);
  if (workspace === null) throw new Error('the workspace was not inserted');
  append({ kind: 'workspace-registered', workspace });
  restoreWorkspace(transaction, workspace);
  return workspace;
}

/** What git says of it now; told only when it is different. Tells whether it is. */
export function noteGit(store: Store, id: WorkspaceId, git: GitSummary | null): boolean {
  const known = findWorkspace(store.sql, id);
  if (known === null || isSameGit(known.git ?? null, git)) return false;
  const text = git === null ? null : JSON.stringify({ ...git, observedAt: new Date().toISOString() });
  store.transact(({ sql, append }) => {
    sql.run('UPDATE workspaces SET git = ? WHERE id = ?', text, id);
    const workspace = findWorkspace(sql, id);
    if (workspace !== null) append({ kind: 'workspace-changed', workspace });
  });
  return true;
}

function isSameGit(known: WorkspaceGit | null, git: GitSummary | null): boolean {
  if (known === null || git === null) return known === git;
  const { branch, head, changed, untracked, truncated } = known;
  return isDeepStrictEqual({ branch, head, changed, untracked, truncated }, git);
}

/** The id under which records remember the directory, else a new one that means no other directory to any record. */
function freeWorkspaceId(sql: Sql, root: string): WorkspaceId {
  const isRegistered = (id: string) => findWorkspace(sql, id) !== null;
  const remembered = rememberedWorkspaceId(sql, root);
  if (remembered !== null && !isRegistered(remembered)) return remembered;
  return makeWorkspaceId(root, (id) => isRegistered(id) || recordsOfWorkspace(sql, id).length > 0);
}

function view(value: unknown): Workspace {
  const row = Row.parse(value);
  return {
    id: row.id,
    root: row.root,
    kind: row.kind,
    createdAt: new Date(row.created_at).toISOString(),
    liveSessions: row.live,
    git: row.git === null ? null : WorkspaceGit.parse(JSON.parse(row.git)),
  };
}
