// The one place where a record follows its session. The session table calls it with every row that it inserts, changes or deletes.
import type { Transaction } from '../store/store.ts';
import type { SessionRow } from '../sessions/session-table.ts';
import { planRecord, providerFacts } from './record-policy.ts';
import { changeRecord, findRecord } from './record-table.ts';

export function followSession(
  transaction: Transaction,
  session: Pick<SessionRow, 'id' | 'record_id' | 'generation' | 'name'>,
  state: SessionRow['status'] | 'removed',
): void {
  if (session.record_id === null) return;
  const record = findRecord(transaction.sql, session.record_id);
  if (record === null) return;
  const { id, generation, name } = session;
  const facts = providerFacts(record.provider, record.transport);
  const change = planRecord(record, { id, generation, name, state }, { ...facts, now: Date.now() });
  if (change !== null) changeRecord(transaction, record, change);
}
