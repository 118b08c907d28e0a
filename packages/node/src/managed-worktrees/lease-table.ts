// The rows of managed worktrees. Every change goes through `insertLease`, `changeLease`, `tellLease` or `deleteLease`, which append
// the event with the whole state after it. Who holds a worktree is never counted up and down: it is looked up among sessions and
// records, by each of their changes, within the same transaction.
import * as z from 'zod';
import {
  CommandReceipt,
  FAILURE_CODES,
  FailureError,
  GitObjectId,
  LeaseId,
  LeaseState,
  LIVE_STATUSES,
  ProfileId,
  Revision,
  WORKTREE_LEASES_MAX,
  WorkspaceId,
  WorktreeProfile,
  type WorktreeLease,
  type WorktreeReceipt,
} from '@roost/protocol';
import type { Sql, SqlValue } from '@roost/storage';
import type { Transaction } from '../store/store.ts';
import { nextStanding, type LeaseNews } from './lease-states.ts';

const Row = z.object({
  id: LeaseId,
  source_workspace_id: WorkspaceId,
  repository_root: z.string(),
  allocation_root: z.string(),
  target: z.string(),
  profile_id: ProfileId,
  profile_revision: Revision,
  profile: z.string(),
  branch: z.string(),
  base_commit: GitObjectId,
  head: GitObjectId.nullable(),
  state: LeaseState,
  failure: z.enum(FAILURE_CODES).nullable(),
  origin: z.enum(['spawn', 'allocate']),
  reserved: z.int(),
  made: z.string(),
  idempotency_key: z.string().nullable(),
  digest: z.string().nullable(),
  port_base: z.int().nullable(),
  port_count: z.int().nullable(),
  setup: z.string().nullable(),
  teardown: z.string().nullable(),
  cleaning: z.int(),
  sessions: z.int(),
  records: z.int(),
  recovery_refs: z.string(),
  outcome: z.enum(['removed', 'kept', 'forgotten']).nullable(),
  branch_kept: z.int().nullable(),
  created_at: z.int(),
  updated_at: z.int(),
});
export type LeaseRow = z.infer<typeof Row>;
type LeaseChange = Partial<
  Pick<
    LeaseRow,
    | 'head'
    | 'reserved'
    | 'made'
    | 'idempotency_key'
    | 'setup'
    | 'teardown'
    | 'cleaning'
    | 'recovery_refs'
    | 'outcome'
    | 'branch_kept'
  >
>;

const LIVE = LIVE_STATUSES.map((status) => `'${status}'`).join(', ');

export function findLease(sql: Sql, id: string): LeaseRow | null {
  const row = sql.get('SELECT * FROM worktree_leases WHERE id = ?', id);
  return row === undefined ? null : Row.parse(row);
}

/** @throws FailureError: unknown-worktree-lease. */
export function requireLease(sql: Sql, leaseId: LeaseId): LeaseRow {
  const lease = findLease(sql, leaseId);
  if (lease === null) throw new FailureError('unknown-worktree-lease', { leaseId });
  return lease;
}

/** The one that is not removed, by its own id or by that of its workspace, which are equal. */
export function activeLease(sql: Sql, id: string): LeaseRow | null {
  // Nearly every workspace is no worktree of ours, and this is asked with each change of a session.
  if (!LeaseId.safeParse(id).success) return null;
  const lease = findLease(sql, id);
  return lease === null || lease.state === 'removed' ? null : lease;
}

/** The one that was made for this request, and about which nothing else tells yet. */
export function leaseOfKey(sql: Sql, key: string): LeaseRow | null {
  const row = sql.get('SELECT * FROM worktree_leases WHERE idempotency_key = ?', key);
  return row === undefined ? null : Row.parse(row);
}

/** Oldest first. */
export function listLeases(sql: Sql, includeRemoved: boolean): LeaseRow[] {
  const where = includeRemoved ? '' : `WHERE state <> 'removed'`;
  return sql
    .all(`SELECT * FROM worktree_leases ${where} ORDER BY created_at, rowid`)
    .map((row) => Row.parse(row));
}

/** @throws FailureError: worktrees-exhausted. */
export function insertLease(transaction: Transaction, row: LeaseRow): LeaseRow {
  const { sql } = transaction;
  if (listLeases(sql, false).length >= WORKTREE_LEASES_MAX) {
    throw new FailureError('worktrees-exhausted', { limit: WORKTREE_LEASES_MAX });
  }
  const names = Object.keys(row);
  sql.run(
    `INSERT INTO worktree_leases (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ...Object.values<SqlValue>(row),
  );
  tell(transaction, row);
  return row;
}

/** Columns beside the state. */
export function changeLease(transaction: Transaction, row: LeaseRow, change: LeaseChange): LeaseRow {
  return write(transaction, row, change);
}

/** What happened to it decides its state. The row as it is afterwards; the same one when that was no news. */
export function tellLease(
  transaction: Transaction,
  row: LeaseRow,
  news: LeaseNews,
  change: LeaseChange = {},
): LeaseRow {
  const standing = nextStanding({ ...row, retention: profileOf(row).retention }, news);
  if (standing === null && Object.keys(change).length === 0) return row;
  const changed = write(transaction, row, { ...change, ...standing });
  if (changed.state === 'removed') evict(transaction.sql);
  return changed;
}

/** Its making failed, and it is proven that nothing of it is there. */
export function deleteLease({ sql, append }: Transaction, row: LeaseRow): void {
  sql.run('DELETE FROM worktree_leases WHERE id = ?', row.id);
  append({ kind: 'worktree-removed', leaseId: row.id });
}

/** Sessions and records of a workspace changed: when it is that of a managed worktree, its lease follows. */
export function followHolders(transaction: Transaction, workspaceId: string): void {
  const lease = activeLease(transaction.sql, workspaceId);
  if (lease === null) return;
  const holders = holdersOf(transaction.sql, lease.id);
  const any = holders.sessions + holders.records > 0;
  const standing = nextStanding(
    { ...lease, retention: profileOf(lease).retention },
    { kind: 'holders', any },
  );
  const isSame = holders.sessions === lease.sessions && holders.records === lease.records;
  if (standing === null && isSame) return;
  // It has had what it was reserved for.
  write(transaction, lease, { ...holders, ...standing, ...(any ? { reserved: 0 } : {}) });
}

/** Sessions that live in it, and records that can be resumed there. */
export function holdersOf(sql: Sql, leaseId: LeaseId): { sessions: number; records: number } {
  return z.object({ sessions: z.int(), records: z.int() }).parse(
    sql.get(
      `SELECT (SELECT count(*) FROM sessions WHERE workspace_id = ? AND status IN (${LIVE})) AS sessions,
          (SELECT count(*) FROM records
            WHERE workspace_id = ? AND provider_session_id IS NOT NULL AND state <> 'unavailable') AS records`,
      leaseId,
      leaseId,
    ),
  );
}

/** Removed sessions of it of which something may be left, a process even. */
export function leftoversOf(sql: Sql, leaseId: LeaseId): number {
  const row = sql.get('SELECT count(*) AS count FROM removals WHERE workspace_id = ?', leaseId);
  return z.object({ count: z.int() }).parse(row).count;
}

export function profileOf(row: Pick<LeaseRow, 'profile'>): WorktreeProfile {
  return WorktreeProfile.parse(JSON.parse(row.profile));
}

export function workspaceOf({ id }: Pick<LeaseRow, 'id'>): WorkspaceId {
  return WorkspaceId.parse(id);
}

export function receiptOf(row: LeaseRow): WorktreeReceipt {
  return { leaseId: row.id, ...unchanging(row) };
}

export function commandReceipt(text: string | null): CommandReceipt | null {
  return text === null ? null : CommandReceipt.parse(JSON.parse(text));
}

export function leaseView(row: LeaseRow): WorktreeLease {
  const setup = commandReceipt(row.setup);
  return {
    id: row.id,
    ...unchanging(row),
    state: row.state,
    failure: row.failure,
    retention: profileOf(row).retention,
    head: row.head,
    setup: setup === null ? 'pending' : setup.outcome === 'done' ? 'done' : 'failed',
    holders: { sessions: row.sessions, records: row.records },
    recoveryRefs: z.array(z.string()).parse(JSON.parse(row.recovery_refs)),
    outcome: row.outcome,
    branchKept: row.branch_kept === null ? null : row.branch_kept === 1,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

function unchanging(row: LeaseRow): Omit<WorktreeReceipt, 'leaseId'> {
  return {
    workspaceId: workspaceOf(row),
    sourceWorkspaceId: row.source_workspace_id,
    profileId: row.profile_id,
    profileRevision: row.profile_revision,
    branch: row.branch,
    baseCommit: row.base_commit,
    ports:
      row.port_base === null || row.port_count === null
        ? null
        : { base: row.port_base, count: row.port_count },
  };
}

function write(
  transaction: Transaction,
  row: LeaseRow,
  change: Partial<Omit<LeaseRow, 'id' | 'created_at' | 'updated_at'>>,
): LeaseRow {
  // Never back, whatever the clock does.
  const changed = { ...row, ...change, updated_at: Math.max(Date.now(), row.updated_at + 1) };
  const entries = Object.entries({ ...change, updated_at: changed.updated_at });
  transaction.sql.run(
    `UPDATE worktree_leases SET ${entries.map(([name]) => `${name} = ?`).join(', ')} WHERE id = ?`,
    ...entries.map(([, value]): SqlValue => value),
    row.id,
  );
  tell(transaction, changed);
  return changed;
}

function tell({ append }: Transaction, row: LeaseRow): void {
  append({ kind: 'worktree-changed', lease: leaseView(row) });
}

/** Removed ones are remembered for a while, the oldest ones go first. */
function evict(sql: Sql): void {
  sql.run(
    `DELETE FROM worktree_leases WHERE state = 'removed' AND id NOT IN (
      SELECT id FROM worktree_leases WHERE state = 'removed' ORDER BY updated_at DESC, id LIMIT ?)`,
    WORKTREE_LEASES_MAX,
  );
}
