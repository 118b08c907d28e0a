// A live session tells which of its provider's own sessions it is. One transaction finds its record, folds it into the one that has
// that session already, or flags the conflict; the session's row moves with it.
import {
  FailureError,
  RECORDS_MAX,
  RecordId,
  type ProviderSession,
  type SessionRecord,
} from '@roost/protocol';
import type { Caller } from '../control/handlers.ts';
import { randomHexId } from '../node-identity.ts';
import {
  changeSession,
  findSession,
  isLive,
  isNameLive,
  sessionsOfRecord,
  type SessionRow,
} from '../sessions/session-table.ts';
import type { Sql } from '@roost/storage';
import type { Store, Transaction } from '../store/store.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { planIdentity, type RecordScope } from './identity-plan.ts';
import { locateRecord } from './locate-record.ts';
import { newRecordRow } from './new-record.ts';
import { detachedState, providerFacts, touched } from './record-policy.ts';
import {
  changeRecord,
  countRecords,
  deleteRecord,
  findRecord,
  insertRecord,
  recordView,
  recordWithProviderSession,
  type RecordChange,
  type RecordRow,
} from './record-table.ts';

/**
 * The record that the session belongs to afterwards; without room for another record, the one that it left.
 * @throws FailureError: session-not-running; unknown-session-record when it belongs to none; unsupported-capability when the caller
 * may not see a record that this would change.
 */
export function reportIdentity(
  store: Store,
  caller: Pick<Caller, 'projection'>,
  sessionId: SessionRow['id'],
  identity: ProviderSession,
): SessionRecord {
  const record = store.transact((transaction) => {
    const { sql } = transaction;
    const session = findSession(sql, sessionId);
    if (session === null || !isLive(session)) throw new FailureError('session-not-running', { sessionId });
    const current = session.record_id === null ? null : findRecord(sql, session.record_id);
    if (current !== null) locateRecord(sql, caller, current.id);
    const existing = recordWithProviderSession(sql, identity);
    const scene = { transaction, session, current, existing, identity, now: Date.now() };
    const scope = current ?? scopeOf(sql, session);
    const plan = planIdentity(current, scope, existing, identity, {
      canIdentify: providerFacts(session.provider, session.transport).canIdentify,
      hasRoom: countRecords(sql) < RECORDS_MAX,
    });
    switch (plan.kind) {
      case 'unchanged':
        break;
      case 'take':
        if (current !== null) take(scene, current);
        break;
      case 'conflict':
        if (current !== null) change(scene, current, { state: 'unavailable', last_error: plan.error });
        break;
      case 'fold':
        if (existing !== null) fold(scene, locateRecord(sql, caller, existing.id), plan.dropsCurrent);
        break;
      case 'replace':
        replace(scene, scope);
        break;
      case 'refuse':
        if (current !== null) leave(scene, current, { state: 'unavailable', last_error: plan.error });
        changeSession(transaction, session, { record_id: null });
        return current === null ? null : findRecord(sql, current.id);
    }
    const recordId = findSession(sql, session.id)?.record_id ?? null;
    return recordId === null ? null : findRecord(sql, recordId);
  });
  if (record === null) throw new FailureError('unknown-session-record', { sessionId });
  return recordView(record);
}

interface Scene {
  readonly transaction: Transaction;
  readonly session: SessionRow;
  readonly current: RecordRow | null;
  readonly existing: RecordRow | null;
  readonly identity: ProviderSession;
  readonly now: number;
}

function take(scene: Scene, current: RecordRow): void {
  change(scene, current, {
    ...identityColumns(scene.identity, current.transcript_path),
    active_session_id: scene.session.id,
    state: 'live',
    last_error: null,
  });
}

/** The old record goes on with this run as its next: name, task and history are its own. */
function fold(scene: Scene, existing: RecordRow, dropsCurrent: boolean): void {
  const { transaction, session, current, identity } = scene;
  const { sql } = transaction;
  const isTaken = (name: string) => name !== session.name && isNameLive(sql, name);
  const name = isTaken(existing.name) ? session.name : existing.name;
  const generation = existing.generation + 1;
  change(scene, existing, {
    ...identityColumns(identity, existing.transcript_path),
    active_session_id: session.id,
    state: 'live',
    last_error: null,
    generation,
    name,
  });
  if (current !== null && dropsCurrent) {
    for (const other of sessionsOfRecord(sql, current.id)) {
      if (other.id !== session.id) changeSession(transaction, other, { record_id: null });
    }
    deleteRecord(transaction, current);
  } else if (current !== null) {
    leave(scene, current);
  }
  changeSession(transaction, session, { record_id: existing.id, generation, name });
}

/** The count of runs goes on in the new record, so that the run keeps its address. */
function replace(scene: Scene, scope: RecordScope): void {
  const { transaction, session, current, identity, now } = scene;
  if (current !== null) leave(scene, current);
  const row: RecordRow = {
    ...newRecordRow({
      id: RecordId.parse(randomHexId()),
      name: session.name,
      provider: session.provider,
      transport: session.transport,
      workspaceId: session.workspace_id,
      workspaceRoot: scope.workspace_root,
      directory: session.directory,
      arguments: [],
      providerSession: identity,
      run: { id: session.id, generation: session.generation },
      environmentProfile: null,
      bundle: null,
      context: null,
      createdAt: now,
    }),
    environment_profile: scope.environment_profile,
    bundle: scope.bundle,
    context: scope.context,
    transcript_path: identity.transcriptPath,
  };
  insertRecord(
    transaction,
    current === null
      ? row
      : {
          ...row,
          arguments: current.arguments,
          task_revision: current.task_revision,
          task_id: current.task_id,
          task_changed_at: current.task_changed_at,
        },
  );
  changeSession(transaction, session, { record_id: row.id });
}

/** Its run has gone to another record. What was made for the run alone went along, and without it nothing can be resumed. */
function leave(scene: Scene, current: RecordRow, otherwise: RecordChange = {}): void {
  const { canResume } = providerFacts(current.provider, current.transport);
  const lost = current.bundle ?? current.context;
  const stripped: RecordChange =
    lost === null
      ? {}
      : {
          provider_session_key: null,
          provider_session_id: null,
          transcript_path: null,
          bundle: null,
          context: null,
          last_error: current.bundle === null ? 'context-unavailable' : 'bundle-unavailable',
        };
  const own = { provider_session_id: lost === null ? current.provider_session_id : null };
  change(scene, current, {
    active_session_id: null,
    state: detachedState(own, canResume),
    ...stripped,
    ...otherwise,
  });
}

function change({ transaction, now }: Scene, record: RecordRow, what: RecordChange): void {
  changeRecord(transaction, record, touched(record, now, what));
}

function identityColumns({ key, id, transcriptPath }: ProviderSession, known: string | null): RecordChange {
  return {
    provider_session_key: key,
    provider_session_id: id,
    transcript_path: transcriptPath ?? known,
  };
}

function scopeOf(sql: Sql, session: SessionRow): RecordScope {
  const { provider, transport, workspace_id, environment_profile } = session;
  const workspace_root = findWorkspace(sql, workspace_id)?.root ?? session.directory;
  return {
    provider,
    transport,
    workspace_id,
    workspace_root,
    environment_profile,
    bundle: null,
    context: null,
  };
}
