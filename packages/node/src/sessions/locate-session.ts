// From an address to the row that it names now. Every operation on a session begins here.
import * as z from 'zod';
import {
  FailureError,
  Session,
  type FailureDetails,
  type SessionAddress,
  type SessionId,
} from '@roost/protocol';
import type { Caller } from '../control/handlers.ts';
import { visible } from '../control/visible.ts';
import type { Sql } from '@roost/storage';
import { findSession, sessionView, type SessionRow } from './session-table.ts';

/** @throws FailureError: unknown-session, unsupported-capability. */
export function locateById(sql: Sql, caller: Pick<Caller, 'projection'>, sessionId: SessionId): SessionRow {
  const row = findSession(sql, sessionId);
  return visible(caller, Session, row === null ? null : { value: row, view: sessionView(row, null) }, {
    code: 'unknown-session',
    details: { sessionId },
  });
}

/**
 * The latest run of its record.
 * @throws FailureError: as above; session-workspace-mismatch, stale-generation.
 */
export function locateAddress(
  sql: Sql,
  caller: Pick<Caller, 'projection'>,
  address: SessionAddress,
): SessionRow {
  const row = locateById(sql, caller, address.sessionId);
  checkAddress(row, address, newestGeneration(sql, row));
  return row;
}

/** The same for exactly this run, be it the latest or not: an old one can still be removed. */
export function locateRun(sql: Sql, caller: Pick<Caller, 'projection'>, address: SessionAddress): SessionRow {
  const row = locateById(sql, caller, address.sessionId);
  checkAddress(row, address, row.generation);
  return row;
}

function checkAddress(
  row: SessionRow,
  { sessionId, workspaceId, generation }: SessionAddress,
  newest: number,
) {
  const details: FailureDetails = { sessionId };
  if (row.workspace_id !== workspaceId) throw new FailureError('session-workspace-mismatch', details);
  if (row.generation !== generation || generation < newest) {
    throw new FailureError('stale-generation', { ...details, generation: newest });
  }
}

const Newest = z.object({ newest: z.int() });

/** The latest run of the session's record; its own where it has none. */
function newestGeneration(sql: Sql, row: SessionRow): number {
  if (row.record_id === null) return row.generation;
  const { newest } = Newest.parse(
    sql.get('SELECT max(generation) AS newest FROM sessions WHERE record_id = ?', row.record_id),
  );
  return Math.max(newest, row.generation);
}
