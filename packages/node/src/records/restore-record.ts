// The record of a running session that the database no longer knows: made again from the note that its keeper kept.
import { ProviderSession, RECORDS_MAX } from '@roost/protocol';
import type { SessionNote } from '../sessions/session-note.ts';
import type { SessionRow } from '../sessions/session-table.ts';
import type { Transaction } from '../store/store.ts';
import { newRecordRow } from './new-record.ts';
import {
  countRecords,
  findRecord,
  insertRecord,
  recordWithProviderSession,
  type RecordRow,
} from './record-table.ts';

/**
 * The record that the session belongs to; null when it had none, when another one stands for its provider's session now, or when
 * there is no room: a session that runs is never refused.
 */
export function restoreRecord(
  transaction: Transaction,
  note: SessionNote,
  session: SessionRow,
): RecordRow['id'] | null {
  const { recordId: id, resume } = note;
  if (id === null || findRecord(transaction.sql, id) !== null) return id;
  const own = resume?.providerSessionId ?? null;
  const told = own === null ? null : ProviderSession.safeParse({ key: 'session-id', id: own });
  const providerSession = told?.success === true ? told.data : null;
  if (providerSession !== null && recordWithProviderSession(transaction.sql, providerSession) !== null) {
    return null;
  }
  if (countRecords(transaction.sql) >= RECORDS_MAX) return null;
  const row = newRecordRow({
    id,
    name: session.name,
    provider: session.provider,
    transport: session.transport,
    workspaceId: session.workspace_id,
    workspaceRoot: note.workspaceRoot,
    directory: session.directory,
    arguments: resume?.arguments ?? [],
    providerSession,
    run: session,
    environmentProfile: null,
    bundle: null,
    context: null,
    createdAt: session.created_at,
  });
  insertRecord(transaction, row);
  return id;
}
