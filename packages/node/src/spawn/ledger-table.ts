// The rows of launches by spec: one for each idempotency key, from the moment the launch is stored.
import * as z from 'zod';
import { Failure, IdempotencyKey, SessionId, SpawnReceipt } from '@roost/protocol';
import type { Sql } from '@roost/storage';

const Row = z.object({
  key: IdempotencyKey,
  owner: z.string(),
  digest: z.string(),
  session_id: SessionId.nullable(),
  receipt: z.string().nullable(),
  failure: z.string().nullable(),
  accepted_at: z.int(),
  settled_at: z.int().nullable(),
});
export type LedgerRow = z.infer<typeof Row>;

export type LaunchOutcome = { readonly receipt: SpawnReceipt } | { readonly failure: Failure };

export function findLaunch(sql: Sql, key: string): LedgerRow | null {
  const row = sql.get('SELECT * FROM spawn_ledger WHERE key = ?', key);
  return row === undefined ? null : Row.parse(row);
}

/** Launches of which it is not stored yet what became of them. */
export function pendingLaunches(sql: Sql): LedgerRow[] {
  return sql.all('SELECT * FROM spawn_ledger WHERE settled_at IS NULL').map((row) => Row.parse(row));
}

/** null: not settled yet. */
export function outcomeOf(row: LedgerRow): LaunchOutcome | null {
  if (row.settled_at === null) return null;
  if (row.failure !== null) return { failure: Failure.parse(JSON.parse(row.failure)) };
  return { receipt: SpawnReceipt.parse(JSON.parse(row.receipt ?? 'null')) };
}

export interface NewLaunch {
  readonly key: IdempotencyKey;
  readonly owner: string;
  readonly digest: string;
  readonly acceptedAt: number;
}

export function insertPending(sql: Sql, launch: NewLaunch, receipt: SpawnReceipt): void {
  const { key, owner, digest, acceptedAt } = launch;
  sql.run(
    `INSERT INTO spawn_ledger (key, owner, digest, session_id, receipt, accepted_at) VALUES (?, ?, ?, ?, ?, ?)`,
    key,
    owner,
    digest,
    receipt.session.sessionId,
    JSON.stringify(receipt),
    acceptedAt,
  );
}

export function insertFailed(sql: Sql, launch: NewLaunch, failure: Failure, now: number): void {
  const { key, owner, digest, acceptedAt } = launch;
  sql.run(
    `INSERT INTO spawn_ledger (key, owner, digest, failure, accepted_at, settled_at) VALUES (?, ?, ?, ?, ?, ?)`,
    key,
    owner,
    digest,
    JSON.stringify(failure),
    acceptedAt,
    now,
  );
}

/** Only the first outcome counts. */
export function settleAccepted(sql: Sql, key: string, now: number): void {
  sql.run('UPDATE spawn_ledger SET settled_at = ? WHERE key = ? AND settled_at IS NULL', now, key);
}

/** The same for the launch of a session that came to run and is removed now: later, nothing would tell that it ran. */
export function settleAcceptedOf(sql: Sql, sessionId: SessionId, now: number): void {
  sql.run(
    'UPDATE spawn_ledger SET settled_at = ? WHERE session_id = ? AND settled_at IS NULL',
    now,
    sessionId,
  );
}

export function settleFailed(sql: Sql, key: string, failure: Failure, now: number): void {
  sql.run(
    `UPDATE spawn_ledger SET settled_at = ?, failure = ?, receipt = NULL WHERE key = ? AND settled_at IS NULL`,
    now,
    JSON.stringify(failure),
    key,
  );
}

/** Launches of an owner that may not make room yet. */
export function countKept(sql: Sql, owner: string, settledBefore: number): number {
  const row = sql.get(
    `SELECT count(*) AS count FROM spawn_ledger WHERE owner = ? AND (settled_at IS NULL OR accepted_at >= ?)`,
    owner,
    settledBefore,
  );
  return z.object({ count: z.int() }).parse(row).count;
}

/** Keeps at most so many launches of an owner; the oldest of those that may make room go first. */
export function makeRoom(sql: Sql, owner: string, keep: number, settledBefore: number): void {
  const row = sql.get('SELECT count(*) AS count FROM spawn_ledger WHERE owner = ?', owner);
  const excess = z.object({ count: z.int() }).parse(row).count - keep;
  if (excess <= 0) return;
  sql.run(
    `DELETE FROM spawn_ledger WHERE key IN (
      SELECT key FROM spawn_ledger WHERE owner = ? AND settled_at IS NOT NULL AND accepted_at < ?
      ORDER BY accepted_at, rowid LIMIT ?)`,
    owner,
    settledBefore,
    excess,
  );
}

/** true when there may be more. */
export function pruneSettled(sql: Sql, settledBefore: number, limit: number): boolean {
  const { changes } = sql.run(
    `DELETE FROM spawn_ledger WHERE key IN (
      SELECT key FROM spawn_ledger WHERE settled_at IS NOT NULL AND accepted_at < ? LIMIT ?)`,
    settledBefore,
    limit,
  );
  return changes >= limit;
}
