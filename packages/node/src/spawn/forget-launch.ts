// What a launch leaves in the database when nothing of it is to be left: nothing.
import { deleteRecord, findRecord } from '../records/record-table.ts';
import { deleteSession, findSession, type SessionRow } from '../sessions/session-table.ts';
import type { Transaction } from '../store/store.ts';
import type { Discards } from './discards.ts';

interface ForgottenLaunch {
  readonly session: Pick<SessionRow, 'id' | 'record_id'>;
  /** Its record was made for it. One that was there before notices by itself that its run is gone. */
  readonly ownRecord: boolean;
  /** may-run: whatever runs under the session's id is to be ended. */
  readonly evidence: 'nothing-runs' | 'may-run';
}

export function forgetLaunch(
  transaction: Transaction,
  discards: Discards,
  { session, ownRecord, evidence }: ForgottenLaunch,
): void {
  const { sql } = transaction;
  const record = ownRecord && session.record_id !== null ? findRecord(sql, session.record_id) : null;
  // A later run, or another session that was found to be it, keeps the record.
  const isOwn = record?.active_session_id === session.id || record?.active_session_id === null;
  if (record !== null && isOwn && record.generation <= 1) deleteRecord(transaction, record);
  const row = findSession(sql, session.id);
  if (row === null) return;
  // Its keeper died before it could tell: only a look at the processes does.
  if (evidence === 'may-run' || row.status === 'lost') discards.add(transaction, row);
  else deleteSession(transaction, row);
}
