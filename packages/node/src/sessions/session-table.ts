// The rows of sessions. Every change goes through `insertSession`, `changeSession` or `deleteSession`: they append the event with the
// whole state after it, and take the session's record and its managed worktree along.
import * as z from 'zod';
import {
  AgentProtocolId,
  EndReason,
  GitObjectId,
  KeeperId,
  LIVE_STATUSES,
  RecordId,
  SessionId,
  SessionName,
  SessionStatus,
  Transport,
  WorkspaceId,
  type Session,
} from '@roost/protocol';
import type { ChildState } from '@roost/keeper/wire';
import { parseActivity } from '../activity/stored-activity.ts';
import { deleteConversation } from '../conversations/conversation-table.ts';
import { followHolders } from '../managed-worktrees/lease-table.ts';
import { deletePrompts } from '../prompts/waiting-prompts.ts';
import { followSession } from '../records/follow-session.ts';
import { settleAcceptedOf } from '../spawn/ledger-table.ts';
import type { Sql, SqlValue } from '@roost/storage';
import type { Transaction } from '../store/store.ts';
import { cameToRun } from './came-to-run.ts';

const Row = z.object({
  id: SessionId,
  record_id: RecordId.nullable(),
  generation: z.int().positive(),
  name: SessionName,
  provider: z.string(),
  transport: Transport,
  status: SessionStatus,
  workspace_id: WorkspaceId,
  directory: z.string(),
  command: z.string(),
  protocol: AgentProtocolId.nullable(),
  environment_profile: z.string().nullable(),
  base_commit: GitObjectId.nullable(),
  keeper_id: KeeperId.nullable(),
  pid: z.int().nullable(),
  process_start: z.string().nullable(),
  columns: z.int().nullable(),
  rows: z.int().nullable(),
  title: z.string().nullable(),
  created_at: z.int(),
  ended_at: z.int().nullable(),
  exit_code: z.int().nullable(),
  exit_signal: z.string().nullable(),
  end_reason: EndReason.nullable(),
  stop_requested: z.int(),
  activity: z.string().nullable(),
});
export type SessionRow = z.infer<typeof Row>;

/** Columns that may change after a session came to be. */
export type SessionChange = Partial<
  Pick<
    SessionRow,
    | 'status'
    | 'keeper_id'
    | 'pid'
    | 'process_start'
    | 'columns'
    | 'rows'
    | 'title'
    | 'ended_at'
    | 'exit_code'
    | 'exit_signal'
    | 'end_reason'
    | 'stop_requested'
    | 'name'
    | 'record_id'
    | 'generation'
    | 'activity'
  >
>;

const LIVE = LIVE_STATUSES.map((status) => `'${status}'`).join(', ');

export function isLive(row: Pick<SessionRow, 'status'>): boolean {
  return LIVE_STATUSES.includes(row.status);
}

export function findSession(sql: Sql, id: string): SessionRow | null {
  const row = sql.get('SELECT * FROM sessions WHERE id = ?', id);
  return row === undefined ? null : Row.parse(row);
}

/** Oldest first. */
export function listSessions(sql: Sql, includeEnded: boolean, limit: number): SessionRow[] {
  const where = includeEnded ? '' : `WHERE status IN (${LIVE})`;
  return sql
    .all(`SELECT * FROM sessions ${where} ORDER BY created_at, rowid LIMIT ?`, limit)
    .map((row) => Row.parse(row));
}

export function sessionsOfKeeper(sql: Sql, keeperId: string): SessionRow[] {
  return sql.all('SELECT * FROM sessions WHERE keeper_id = ?', keeperId).map((row) => Row.parse(row));
}

/** Live sessions whose keeper is none of those. */
export function liveSessionsOfOtherKeepers(sql: Sql, keeperIds: ReadonlySet<string>): SessionRow[] {
  return listSessions(sql, false, -1).filter(
    (row) => row.keeper_id === null || !keeperIds.has(row.keeper_id),
  );
}

/** Sessions that a selector may mean: of that name, or whose id starts with it. */
export function sessionsMatching(sql: Sql, selector: string): SessionRow[] {
  return sql
    .all('SELECT * FROM sessions WHERE name = ? OR substr(id, 1, ?) = ?', selector, selector.length, selector)
    .map((row) => Row.parse(row));
}

export function isNameLive(sql: Sql, name: string): boolean {
  return sql.get(`SELECT 1 FROM sessions WHERE name = ? AND status IN (${LIVE}) LIMIT 1`, name) !== undefined;
}

export function countSessions(sql: Sql): { live: number; ended: number } {
  const Count = z.object({ live: z.int(), ended: z.int() });
  return Count.parse(
    sql.get(
      `SELECT count(CASE WHEN status IN (${LIVE}) THEN 1 END) AS live,
        count(CASE WHEN status NOT IN (${LIVE}) THEN 1 END) AS ended FROM sessions`,
    ),
  );
}

export function insertSession(transaction: Transaction, row: SessionRow): Session {
  const names = Object.keys(row);
  transaction.sql.run(
    `INSERT INTO sessions (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ...Object.values<SqlValue>(row),
  );
  // News of a record and of a worktree come before those of its session.
  followSession(transaction, row, row.status);
  followHolders(transaction, row.workspace_id);
  const session = sessionView(row, null);
  transaction.append({ kind: 'session-changed', session });
  return session;
}

export function changeSession(transaction: Transaction, row: SessionRow, change: SessionChange): Session {
  const names = Object.keys(change);
  transaction.sql.run(
    `UPDATE sessions SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`,
    ...Object.values<SqlValue>(change),
    row.id,
  );
  const changed = { ...row, ...change };
  // Nothing is typed into a terminal that is gone; those of a conversation are told what became of them.
  if (!isLive(changed) && row.protocol === null) deletePrompts(transaction.sql, row.id);
  followSession(transaction, changed, changed.status);
  followHolders(transaction, row.workspace_id);
  const session = sessionView(changed, null);
  transaction.append({ kind: 'session-changed', session });
  return session;
}

/** Forgets a session. What is left to clean up stays noted; a launch that ran and is to fail is settled before. */
export function deleteSession(transaction: Transaction, row: SessionRow): void {
  const { sql, append } = transaction;
  sql.run(
    'INSERT OR REPLACE INTO removals (session_id, keeper_id, workspace_id) VALUES (?, ?, ?)',
    row.id,
    row.keeper_id,
    row.workspace_id,
  );
  sql.run('DELETE FROM sessions WHERE id = ?', row.id);
  deleteConversation(sql, row.id);
  if (cameToRun(row) === true) settleAcceptedOf(sql, row.id, Date.now());
  followSession(transaction, row, 'removed');
  followHolders(transaction, row.workspace_id);
  append({ kind: 'session-removed', sessionId: row.id, provider: row.provider });
}

export function sessionsOfRecord(sql: Sql, recordId: string): SessionRow[] {
  return sql
    .all('SELECT * FROM sessions WHERE record_id = ? ORDER BY generation', recordId)
    .map((row) => Row.parse(row));
}

/** Live sessions that belong to a record. */
export function liveSessionsWithRecord(sql: Sql): SessionRow[] {
  return sql
    .all(`SELECT * FROM sessions WHERE record_id IS NOT NULL AND status IN (${LIVE})`)
    .map((row) => Row.parse(row));
}

/** A session as clients see it: the row, and what its keeper told last. */
export function sessionView(row: SessionRow, child: ChildState | null): Session {
  return withChild(storedView(row), child);
}

/**
 * What changes by the second, laid over what is stored. An end that was told but is not stored yet (its last output comes first)
 * shows already: a list must not call an ended session running.
 */
export function withChild(session: Session, child: ChildState | null): Session {
  if (child === null) return session;
  const shown: Session = {
    ...session,
    size: session.transport === 'pty' ? (child.size ?? session.size) : null,
    title: child.title ?? session.title,
  };
  if (!isLive(session)) return shown;
  const { exit } = child;
  if (exit === null) return { ...shown, attachedClients: child.attachedClients };
  return {
    ...shown,
    status: 'exited',
    activity: null,
    endedAt: new Date(exit.endedAt).toISOString(),
    exitCode: exit.exitCode,
    exitSignal: exit.exitSignal,
    endReason: session.status === 'stopping' ? 'stopped' : null,
  };
}

export function storedView(row: SessionRow): Session {
  const { columns, rows } = row;
  return {
    id: row.id,
    recordId: row.record_id,
    generation: row.generation,
    name: row.name,
    provider: row.provider,
    transport: row.transport,
    status: row.status,
    workspaceId: row.workspace_id,
    directory: row.directory,
    baseCommit: row.base_commit,
    command: z.array(z.string()).parse(JSON.parse(row.command)),
    protocol: row.protocol,
    keeperId: row.keeper_id,
    pid: row.pid,
    size: row.transport === 'pty' && columns !== null && rows !== null ? { columns, rows } : null,
    title: row.title,
    activity: isLive(row) ? parseActivity(row.activity) : null,
    createdAt: new Date(row.created_at).toISOString(),
    endedAt: row.ended_at === null ? null : new Date(row.ended_at).toISOString(),
    exitCode: row.exit_code,
    exitSignal: row.exit_signal,
    endReason: row.end_reason,
    attachedClients: 0,
    usage: null,
  };
}
