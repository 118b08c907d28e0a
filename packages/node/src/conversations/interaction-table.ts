// The rows of interactions: what agents asked, what the provider calls it, and how it was settled.
import * as z from 'zod';
import {
  InteractionAnswerer,
  InteractionId,
  InteractionKind,
  InteractionOption,
  InteractionState,
  INTERACTIONS_KEPT_MAX,
  SessionId,
  type Interaction,
  type InteractionSummary,
} from '@roost/protocol';
import type { SessionRow } from '../sessions/session-table.ts';
import type { Sql, SqlValue } from '@roost/storage';
import type { Transaction } from '../store/store.ts';

const Row = z.object({
  id: InteractionId,
  session_id: SessionId,
  /** The provider's own id; it never leaves the node. */
  request_id: z.string(),
  kind: InteractionKind,
  tool: z.string().nullable(),
  title: z.string(),
  detail: z.string(),
  options: z.string(),
  state: InteractionState,
  outcome: z.enum(['approved', 'refused', 'answered', 'withdrawn']).nullable(),
  answered_by: InteractionAnswerer.nullable(),
  asked_at: z.int(),
  expires_at: z.int().nullable(),
  settled_at: z.int().nullable(),
});
export type InteractionRow = z.infer<typeof Row>;

export function findInteraction(sql: Sql, id: string): InteractionRow | null {
  const row = sql.get('SELECT * FROM interactions WHERE id = ?', id);
  return row === undefined ? null : Row.parse(row);
}

/** Those that wait first, then the newest; of one session, or of all. */
export function listInteractions(
  sql: Sql,
  { sessionId, includeSettled, limit }: { sessionId: string | null; includeSettled: boolean; limit: number },
): InteractionRow[] {
  const where = [
    ...(sessionId === null ? [] : ['session_id = ?']),
    ...(includeSettled ? [] : ["state = 'pending'"]),
  ];
  const values: SqlValue[] = [...(sessionId === null ? [] : [sessionId]), limit];
  return sql
    .all(
      `SELECT * FROM interactions ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`}
        ORDER BY state <> 'pending', CASE WHEN state = 'pending' THEN asked_at ELSE -settled_at END, rowid LIMIT ?`,
      ...values,
    )
    .map((row) => Row.parse(row));
}

export function pendingInteractions(sql: Sql, sessionId: string): InteractionRow[] {
  return listInteractions(sql, { sessionId, includeSettled: false, limit: -1 });
}

/** Of a session that lives no more, and that no driver can settle. */
export function withdrawAll(transaction: Transaction, session: SessionRow): void {
  const how = {
    state: 'withdrawn',
    outcome: 'withdrawn',
    answered_by: null,
    settled_at: Date.now(),
  } as const;
  for (const row of pendingInteractions(transaction.sql, session.id))
    settleInteraction(transaction, session, row, how);
}

/** The oldest settled ones of the session make room. */
export function insertInteraction(transaction: Transaction, session: SessionRow, row: InteractionRow): void {
  const { sql, append } = transaction;
  const names = Object.keys(row);
  sql.run(
    `INSERT OR REPLACE INTO interactions (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ...Object.values<SqlValue>(row),
  );
  sql.run(
    `DELETE FROM interactions WHERE session_id = ? AND state <> 'pending' AND rowid NOT IN (
      SELECT rowid FROM interactions WHERE session_id = ? ORDER BY rowid DESC LIMIT ?)`,
    row.session_id,
    row.session_id,
    INTERACTIONS_KEPT_MAX,
  );
  append({ kind: 'interaction-changed', interaction: interactionSummary(session, row) });
}

export function settleInteraction(
  { sql, append }: Transaction,
  session: SessionRow,
  row: InteractionRow,
  settled: Pick<InteractionRow, 'state' | 'outcome' | 'answered_by' | 'settled_at'>,
): void {
  sql.run(
    'UPDATE interactions SET state = ?, outcome = ?, answered_by = ?, settled_at = ? WHERE id = ?',
    settled.state,
    settled.outcome,
    settled.answered_by,
    settled.settled_at,
    row.id,
  );
  append({ kind: 'interaction-changed', interaction: interactionSummary(session, { ...row, ...settled }) });
}

function interactionSummary(session: SessionRow, row: InteractionRow): InteractionSummary {
  return {
    id: row.id,
    session: { workspaceId: session.workspace_id, sessionId: session.id, generation: session.generation },
    provider: session.provider,
    interaction: row.kind,
    tool: row.tool,
    state: row.state,
    askedAt: time(row.asked_at),
    expiresAt: row.expires_at === null ? null : time(row.expires_at),
    settledAt: row.settled_at === null ? null : time(row.settled_at),
    outcome: row.outcome,
    answeredBy: row.answered_by,
  };
}

export function interactionView(session: SessionRow, row: InteractionRow): Interaction {
  return {
    ...interactionSummary(session, row),
    sessionName: session.name,
    title: row.title,
    detail: row.detail,
    options: optionsOf(row),
  };
}

export function optionsOf({ options }: Pick<InteractionRow, 'options'>): InteractionOption[] {
  return z.array(InteractionOption).parse(JSON.parse(options));
}

const time = (at: number): string => new Date(at).toISOString();
