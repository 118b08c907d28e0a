// The rows of records. Every change goes through `insertRecord`, `changeRecord` or `deleteRecord`, which append the event with the
// whole state after it.
import * as z from 'zod';
import {
  BundleReceipt,
  ContextReceipt,
  EnvironmentReceipt,
  FailureError,
  InteractionPolicy,
  ProviderSession,
  RECORDS_MAX,
  RecordError,
  RecordId,
  RecordState,
  SessionId,
  SessionName,
  TaskId,
  Transport,
  WorkspaceId,
  type SessionAddress,
  type SessionRecord,
} from '@roost/protocol';
import { followHolders } from '../managed-worktrees/lease-table.ts';
import type { Sql, SqlValue } from '@roost/storage';
import type { Transaction } from '../store/store.ts';

const Row = z.object({
  id: RecordId,
  name: SessionName,
  provider: z.string(),
  transport: Transport,
  state: RecordState,
  workspace_id: WorkspaceId,
  workspace_root: z.string(),
  directory: z.string(),
  arguments: z.string(),
  generation: z.int().nonnegative(),
  provider_session_key: ProviderSession.shape.key.nullable(),
  provider_session_id: z.string().nullable(),
  transcript_path: z.string().nullable(),
  active_session_id: SessionId.nullable(),
  environment_profile: z.string().nullable(),
  bundle: z.string().nullable(),
  context: z.string().nullable(),
  /** JSON. */
  interactions: z.string().nullable(),
  task_revision: z.int().nonnegative(),
  task_id: TaskId.nullable(),
  task_changed_at: z.int().nullable(),
  created_at: z.int(),
  updated_at: z.int(),
  last_error: RecordError.nullable(),
});
export type RecordRow = z.infer<typeof Row>;
export type RecordChange = Partial<Omit<RecordRow, 'id' | 'created_at'>>;

export function findRecord(sql: Sql, id: string): RecordRow | null {
  const row = sql.get('SELECT * FROM records WHERE id = ?', id);
  return row === undefined ? null : Row.parse(row);
}

/** Oldest first. */
export function listRecords(sql: Sql, limit = -1): RecordRow[] {
  return sql
    .all('SELECT * FROM records ORDER BY created_at, rowid LIMIT ?', limit)
    .map((row) => Row.parse(row));
}

/** Those that came to be after that one, oldest first. */
export function listRecordsAfter(sql: Sql, { id }: Pick<RecordRow, 'id'>, limit: number): RecordRow[] {
  return sql
    .all(
      `SELECT * FROM records WHERE (created_at, rowid) > (SELECT created_at, rowid FROM records WHERE id = ?)
        ORDER BY created_at, rowid LIMIT ?`,
      id,
      limit,
    )
    .map((row) => Row.parse(row));
}

/** Records that a selector may mean: of that name, or whose id starts with it. */
export function recordsMatching(sql: Sql, selector: string): RecordRow[] {
  return sql
    .all('SELECT * FROM records WHERE name = ? OR substr(id, 1, ?) = ?', selector, selector.length, selector)
    .map((row) => Row.parse(row));
}

/** The one record that holds this session of a provider: keys and ids are compared, providers are not. */
export function recordWithProviderSession(sql: Sql, { key, id }: ProviderSession): RecordRow | null {
  const row = sql.get(
    'SELECT * FROM records WHERE provider_session_key = ? AND provider_session_id = ?',
    key,
    id,
  );
  return row === undefined ? null : Row.parse(row);
}

export function recordsOfWorkspace(sql: Sql, workspaceId: string): RecordRow[] {
  return sql
    .all('SELECT * FROM records WHERE workspace_id = ? ORDER BY created_at, rowid', workspaceId)
    .map((row) => Row.parse(row));
}

export function countRecords(sql: Sql): number {
  return z.object({ count: z.int() }).parse(sql.get('SELECT count(*) AS count FROM records')).count;
}

/** @throws FailureError: records-exhausted; session-record-conflict when the id or the provider's session is taken. */
export function insertRecord(transaction: Transaction, row: RecordRow): SessionRecord {
  const { sql } = transaction;
  if (countRecords(sql) >= RECORDS_MAX) throw new FailureError('records-exhausted', { limit: RECORDS_MAX });
  const session = providerSessionOf(row);
  if (
    findRecord(sql, row.id) !== null ||
    (session !== null && recordWithProviderSession(sql, session) !== null)
  ) {
    throw new FailureError('session-record-conflict', { recordId: row.id });
  }
  const names = Object.keys(row);
  sql.run(
    `INSERT INTO records (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ...Object.values<SqlValue>(row),
  );
  followHolders(transaction, row.workspace_id);
  return tell(transaction, row);
}

/** `updated_at` must be part of the change when it should grow. */
export function changeRecord(
  transaction: Transaction,
  row: RecordRow,
  change: RecordChange,
): { row: RecordRow; record: SessionRecord } {
  const names = Object.keys(change);
  transaction.sql.run(
    `UPDATE records SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`,
    ...Object.values<SqlValue>(change),
    row.id,
  );
  const changed = { ...row, ...change };
  followHolders(transaction, row.workspace_id);
  if (changed.workspace_id !== row.workspace_id) followHolders(transaction, changed.workspace_id);
  return { row: changed, record: tell(transaction, changed) };
}

export function deleteRecord(transaction: Transaction, row: RecordRow): void {
  const { sql, append } = transaction;
  sql.run('DELETE FROM records WHERE id = ?', row.id);
  followHolders(transaction, row.workspace_id);
  append({ kind: 'record-removed', recordId: row.id, provider: row.provider });
}

function providerSessionOf(row: RecordRow): ProviderSession | null {
  if (row.provider_session_key === null || row.provider_session_id === null) return null;
  return { key: row.provider_session_key, id: row.provider_session_id, transcriptPath: row.transcript_path };
}

/** How what its runs ask is answered without a person; null: always by one. */
export function interactionsOf({ interactions }: Pick<RecordRow, 'interactions'>): InteractionPolicy | null {
  return interactions === null ? null : InteractionPolicy.parse(JSON.parse(interactions));
}

export function argumentsOf(row: Pick<RecordRow, 'arguments'>): string[] {
  return z.array(z.string()).parse(JSON.parse(row.arguments));
}

export function activeAddressOf(row: RecordRow): SessionAddress | null {
  if (row.active_session_id === null) return null;
  return { workspaceId: row.workspace_id, sessionId: row.active_session_id, generation: row.generation };
}

export function recordView(row: RecordRow): SessionRecord {
  return {
    id: row.id,
    name: row.name,
    provider: row.provider,
    transport: row.transport,
    state: row.state,
    workspaceId: row.workspace_id,
    workspaceRoot: row.workspace_root,
    directory: row.directory,
    generation: row.generation,
    providerSession: providerSessionOf(row),
    activeSession: activeAddressOf(row),
    environmentProfile: receipt(EnvironmentReceipt, row.environment_profile),
    bundle: receipt(BundleReceipt, row.bundle),
    context: receipt(ContextReceipt, row.context),
    taskBinding:
      row.task_revision === 0 || row.task_changed_at === null
        ? null
        : {
            revision: row.task_revision,
            taskId: row.task_id,
            changedAt: new Date(row.task_changed_at).toISOString(),
          },
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
    lastError: row.last_error,
  };
}

function receipt<Schema extends z.ZodType>(schema: Schema, text: string | null): z.infer<Schema> | null {
  return text === null ? null : schema.parse(JSON.parse(text));
}

function tell({ append }: Transaction, row: RecordRow): SessionRecord {
  const record = recordView(row);
  append({ kind: 'record-changed', record });
  return record;
}
