// The one place where a record follows its session. The session table calls it with every row that it inserts, changes or deletes.
import type { Transaction } from '../store/store.ts';
import type { SessionRow } from '../sessions/session-table.ts';
import { planRecord, providerFacts } from './record-policy.ts';
import { changeRecord, findRecord, type RecordRow } from './record-table.ts';

/** Milliseconds in which a provider gives up a session that it does not know: claude 2.1.197 and codex 0.171.0 take one or two. */
const REFUSAL_MS = 10_000;

export function followSession(
  transaction: Transaction,
  session: SessionRow,
  state: SessionRow['status'] | 'removed',
): void {
  if (session.record_id === null) return;
  const record = findRecord(transaction.sql, session.record_id);
  if (record === null) return;
  const { id, generation, name } = session;
  const facts = providerFacts(record.provider, record.transport);
  const resumeRefused = state === 'exited' && wasRefused(record, session);
  const change = planRecord(
    record,
    { id, generation, name, state, resumeRefused },
    { ...facts, now: Date.now() },
  );
  if (change !== null) changeRecord(transaction, record, change);
}

/** Resumed, and over at once with a failure, and nobody had asked for that. */
function wasRefused(record: RecordRow, session: SessionRow): boolean {
  const { created_at: from, ended_at: to, exit_code: code, stop_requested: stopped } = session;
  const isResume = record.created_at < from;
  return isResume && stopped === 0 && code !== null && code !== 0 && to !== null && to - from <= REFUSAL_MS;
}
