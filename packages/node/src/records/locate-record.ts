// From an id or a selector to the record that the caller means and may see. Every operation on a record begins here.
import { HIDDEN, SessionRecord, type RecordId } from '@roost/protocol';
import type { Caller } from '../control/handlers.ts';
import { visible } from '../control/visible.ts';
import { resolveSelector } from '../sessions/selector.ts';
import type { Sql } from '@roost/storage';
import { findRecord, recordsMatching, recordView, type RecordRow } from './record-table.ts';

/**
 * For whoever wants to change it. A task is shown or not, and in nobody's way: who does not know tasks may still rename the record.
 * @throws FailureError: unknown-session-record, unsupported-capability.
 */
export function locateRecord(sql: Sql, caller: Pick<Caller, 'projection'>, recordId: RecordId): RecordRow {
  const row = findRecord(sql, recordId);
  const found = row === null ? null : { value: row, view: { ...recordView(row), taskBinding: null } };
  return visible(caller, SessionRecord, found, { code: 'unknown-session-record', details: { recordId } });
}

/** For whoever wants to look. @throws FailureError: unknown-session-record, ambiguous-session. */
export function selectRecord(sql: Sql, caller: Pick<Caller, 'projection'>, selector: string): RecordRow {
  const seen = recordsMatching(sql, selector).filter(
    (row) => caller.projection.show(SessionRecord, recordView(row)) !== HIDDEN,
  );
  return resolveSelector(selector, seen, {
    isLive: (row) => row.active_session_id !== null,
    missing: 'unknown-session-record',
  });
}
