// From an id or a selector to the record that the caller means and may see. Every operation on a record begins here.
import { SessionRecord, type RecordId } from '@roost/protocol';
import type { Caller } from '../control/handlers.ts';
import { visible } from '../control/visible.ts';
import { resolveSelector } from '../sessions/selector.ts';
import type { Sql } from '../store/sql.ts';
import { findRecord, recordsMatching, recordView, type RecordRow } from './record-table.ts';

/** @throws FailureError: unknown-session-record, unsupported-capability. */
export function locateRecord(sql: Sql, caller: Pick<Caller, 'projection'>, recordId: RecordId): RecordRow {
  const row = findRecord(sql, recordId);
  return visible(caller, SessionRecord, row === null ? null : { value: row, view: recordView(row) }, {
    code: 'unknown-session-record',
    details: { recordId },
  });
}

/** @throws FailureError: unknown-session-record, ambiguous-session. */
export function selectRecord(sql: Sql, caller: Pick<Caller, 'projection'>, selector: string): RecordRow {
  const seen = recordsMatching(sql, selector).filter(
    (row) => caller.projection.lacks(SessionRecord, recordView(row)) === null,
  );
  return resolveSelector(selector, seen, {
    isLive: (row) => row.active_session_id !== null,
    missing: 'unknown-session-record',
  });
}
