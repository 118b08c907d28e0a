// What a program in a managed worktree is told about it: sessions, their resumes, set-up and tear-down get the same variables.
import type { Sql } from '@roost/storage';
import { activeLease, type LeaseRow } from './lease-table.ts';

export function leaseEnvironment(lease: LeaseRow): Record<string, string> {
  const { id, target, repository_root: source, branch, port_base: base, port_count: count } = lease;
  return {
    ROOST_WORKTREE: target,
    ROOST_WORKTREE_ID: id,
    ROOST_WORKTREE_BRANCH: branch,
    ROOST_WORKTREE_SOURCE: source,
    ...(base === null || count === null
      ? {}
      : { ROOST_PORT_BASE: String(base), ROOST_PORT_COUNT: String(count) }),
  };
}

/** Of a session in that workspace; none when it is no managed worktree. */
export function worktreeEnvironment(sql: Sql, workspaceId: string): Record<string, string> {
  const lease = activeLease(sql, workspaceId);
  return lease === null ? {} : leaseEnvironment(lease);
}
