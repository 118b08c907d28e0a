// Forgetting a record: with its ended sessions, in one transaction, never while a run of it lives. What the provider keeps stays.
import { FailureError } from '@roost/protocol';
import { deleteSession, isLive, sessionsOfRecord } from '../sessions/session-table.ts';
import type { Transaction } from '../store/store.ts';
import { isBusy } from './record-policy.ts';
import { activeAddressOf, deleteRecord, type RecordRow } from './record-table.ts';

/** @throws FailureError: session-record-busy. */
export function removeRecord(transaction: Transaction, record: RecordRow): void {
  const sessions = sessionsOfRecord(transaction.sql, record.id);
  if (isBusy(record) || sessions.some(isLive)) throw busyRecord(record);
  for (const session of sessions) deleteSession(transaction, session);
  deleteRecord(transaction, record);
}

/** Tells the address of the run that lives. */
export function busyRecord(record: RecordRow): FailureError {
  const active = activeAddressOf(record);
  return new FailureError('session-record-busy', { recordId: record.id, ...active });
}
