// The operations on records.
import { randomBytes } from 'node:crypto';
import { FailureError, TaskId, type Params, type SessionName, type SessionRecord } from '@roost/protocol';
import { findProvider } from '@roost/providers';
import { AnswerRoom } from '../control/answer-room.ts';
import type { Handlers } from '../control/handlers.ts';
import { locateAddress } from '../sessions/locate-session.ts';
import { changeSession, findSession, isLive, isNameLive } from '../sessions/session-table.ts';
import type { Sql } from '@roost/storage';
import type { Transaction } from '../store/store.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { locateRecord, selectRecord } from './locate-record.ts';
import { insertDormant } from './insert-dormant.ts';
import { providerFacts, touched } from './record-policy.ts';
import {
  changeRecord,
  findRecord,
  listRecords,
  listRecordsAfter,
  recordView,
  recordWithProviderSession,
  type RecordRow,
} from './record-table.ts';
import { removeRecord } from './remove-record.ts';
import { reportIdentity } from './report-identity.ts';
import { resumeRecord, type ResumeScene } from './resume.ts';
import { planTask } from './task-binding.ts';

type RecordOperation =
  Extract<keyof Handlers, `record.${string}`> | 'session.reportIdentity' | 'session.resume';

export function recordOperations(scene: ResumeScene): Pick<Handlers, RecordOperation> {
  const { store } = scene;
  return {
    'record.list': ({ limit, after }, caller) => {
      const { sql } = store;
      const rows =
        after === undefined
          ? listRecords(sql, limit + 1)
          : listRecordsAfter(sql, locateRecord(sql, caller, after), limit + 1);
      const room = new AnswerRoom();
      const views = rows.slice(0, limit).map(recordView);
      const end = views.findIndex((record) => !room.take(record));
      const records = end === -1 ? views : views.slice(0, end);
      return { records, truncated: rows.length > records.length };
    },

    'record.resolve': ({ selector }, caller) => recordView(selectRecord(store.sql, caller, selector)),

    'record.rename': ({ recordId, name }, caller) =>
      store.transact((transaction) =>
        rename(transaction, locateRecord(transaction.sql, caller, recordId), name),
      ),

    'record.setTask': ({ recordId, ...wish }, caller) =>
      store.transact((transaction) => {
        const record = locateRecord(transaction.sql, caller, recordId);
        const mint = () => mintTask(transaction.sql);
        const change = planTask(record, wish, { now: Date.now(), mint });
        return change === null ? recordView(record) : changeRecord(transaction, record, change).record;
      }),

    'record.index': (params) => store.transact((transaction) => indexSession(transaction, params)),

    'record.resume': ({ recordId, size, prompt }, caller) =>
      resumeRecord(scene, {
        record: locateRecord(store.sql, caller, recordId),
        size,
        prompt: prompt ?? null,
      }),

    'record.forget': ({ recordId }, caller) => {
      store.transact((transaction) => {
        removeRecord(transaction, locateRecord(transaction.sql, caller, recordId));
      });
      scene.removed();
      return { recordId };
    },

    'session.reportIdentity': ({ providerSession, ...address }, caller) => {
      const { id } = locateAddress(store.sql, caller, address);
      return reportIdentity(store, caller, id, providerSession);
    },

    'session.resume': async ({ size, prompt, ...address }, caller) => {
      const row = locateAddress(store.sql, caller, address);
      const { id: sessionId, record_id: recordId } = row;
      if (isLive(row)) throw new FailureError('session-running', { sessionId });
      if (recordId === null) throw new FailureError('session-record-not-resumable', { sessionId });
      const record = locateRecord(store.sql, caller, recordId);
      return (await resumeRecord(scene, { record, size, prompt: prompt ?? null })).session;
    },
  };
}

/** A record's name is its live session's name. */
function rename(transaction: Transaction, record: RecordRow, name: SessionName): SessionRecord {
  const { sql } = transaction;
  const { active_session_id: active } = record;
  const session = active === null ? null : findSession(sql, active);
  if (session !== null && isLive(session) && session.name !== name) {
    if (isNameLive(sql, name)) throw new FailureError('name-taken', { name });
    // The record follows its session.
    changeSession(transaction, session, { name });
    return recordView(findRecord(sql, record.id) ?? record);
  }
  return changeRecord(transaction, record, touched(record, Date.now(), { name })).record;
}

/** In the workspace itself. */
function indexSession(
  transaction: Transaction,
  { workspaceId, provider, providerSession, name }: Params<'record.index'>,
): SessionRecord {
  if (providerSession.transcriptPath !== null) {
    throw new FailureError('invalid-request', {
      issues: ['providerSession.transcriptPath: not to be named'],
    });
  }
  const workspace = findWorkspace(transaction.sql, workspaceId);
  if (workspace === null) throw new FailureError('unknown-workspace', { workspaceId });
  if (findProvider(provider) === null) throw new FailureError('unknown-provider', { provider });
  if (!providerFacts(provider, 'pty').canResume) {
    throw new FailureError('invalid-request', { issues: ['provider: has no sessions of its own'] });
  }
  const known = recordWithProviderSession(transaction.sql, providerSession);
  if (known !== null) {
    if (known.provider === provider && known.workspace_id === workspaceId) return recordView(known);
    throw new FailureError('session-record-conflict', { recordId: known.id });
  }
  const { root } = workspace;
  return insertDormant(transaction, { provider, providerSession, name, workspace, directory: root });
}

function mintTask(sql: Sql): TaskId {
  for (;;) {
    const id = TaskId.parse(`task-${randomBytes(12).toString('hex')}`);
    if (sql.get('SELECT 1 FROM records WHERE task_id = ? LIMIT 1', id) === undefined) return id;
  }
}
