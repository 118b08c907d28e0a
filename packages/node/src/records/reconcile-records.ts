// At start, after the keepers were heard: records agree with their sessions again. Within one run of the node they always do; this
// repairs what a crash of the machine, an older build or a restored file may have left.
import type { Log } from '@roost/storage';
import { changeSession, findSession, liveSessionsWithRecord } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';
import { planRecord, providerFacts, touched, type Run } from './record-policy.ts';
import { changeRecord, findRecord, listRecords, type RecordRow } from './record-table.ts';

export function reconcileRecords(store: Store, log: Log): void {
  const repaired = store.transact((transaction) => {
    const { sql } = transaction;
    const now = Date.now();
    let count = 0;
    for (const session of liveSessionsWithRecord(sql)) {
      if (session.record_id !== null && findRecord(sql, session.record_id) === null) {
        changeSession(transaction, session, { record_id: null });
        count += 1;
      }
    }
    for (const record of listRecords(sql)) {
      // Where the provider keeps a conversation is known only as long as somebody has just told it.
      const known = record.transcript_path === null ? {} : { transcript_path: null };
      const run = runOf(record);
      const change = run === null ? null : planRecord(record, run, { ...facts(record), now });
      if (change !== null) count += 1;
      if (change === null && record.transcript_path === null) continue;
      changeRecord(transaction, record, { ...touched(record, now, known), ...change });
    }
    return count;

    /** The run that the record claims, as it is; null when it claims none. */
    function runOf(record: RecordRow): Run | null {
      const { active_session_id: id, generation, name } = record;
      if (id === null) return null;
      const session = findSession(sql, id);
      if (session?.record_id !== record.id) {
        return { id, generation, name, state: 'removed', resumeRefused: false };
      }
      return { ...session, state: session.status, resumeRefused: false };
    }
  });
  if (repaired > 0) log.warn({ repaired }, 'records did not agree with their sessions and were repaired');
}

function facts({ provider, transport }: RecordRow) {
  return providerFacts(provider, transport);
}
