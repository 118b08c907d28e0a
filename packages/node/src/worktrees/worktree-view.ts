// A worktree as clients see it: what git lists, with the workspace and the sessions that the node knows there.
import type { Worktree } from '@roost/protocol';
import type { Sql } from '@roost/storage';
import { listSessions } from '../sessions/session-table.ts';
import { findWorkspaceAt } from '../workspaces/workspaces.ts';
import type { WorktreeEntry } from './worktree-list.ts';
import { isWithin } from './worktree-target.ts';

/** Sessions told of one worktree. */
const SESSIONS_MAX = 64;

/** A session belongs to the deepest worktree around its directory. */
export function worktreeViews(
  sql: Sql,
  entries: readonly WorktreeEntry[],
  dirty: ReadonlyMap<WorktreeEntry, boolean | null>,
): Worktree[] {
  const living = new Map<WorktreeEntry, Worktree['sessions']>();
  for (const { id, name, directory } of listSessions(sql, false, -1)) {
    const around = entries.filter(({ path }) => isWithin(directory, path));
    const deepest = around.sort((one, other) => other.path.length - one.path.length)[0];
    if (deepest === undefined) continue;
    const sessions = living.get(deepest) ?? [];
    if (sessions.length < SESSIONS_MAX) sessions.push({ sessionId: id, name });
    living.set(deepest, sessions);
  }
  return entries.map((entry) => worktreeView(sql, entry, living.get(entry) ?? [], dirty.get(entry) ?? null));
}

export function worktreeView(
  sql: Sql,
  entry: WorktreeEntry,
  sessions: Worktree['sessions'],
  dirty: Worktree['dirty'],
): Worktree {
  return {
    path: entry.path,
    head: entry.head,
    branch: entry.branch,
    isMain: entry.isMain,
    isBare: entry.isBare,
    locked: entry.locked,
    prunable: entry.prunable,
    workspaceId: findWorkspaceAt(sql, entry.path)?.id ?? null,
    sessions,
    dirty,
  };
}
