import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  CAPABILITIES,
  FailureError,
  KeeperId,
  Projection,
  ProviderSession,
  RECORDS_MAX,
  RecordId,
  SessionId,
  SessionName,
  WorkspaceId,
  type Capability,
  type EventBody,
  type SessionRecord,
} from '@roost/protocol';
import { beginIncarnation, randomHexId } from '../node-identity.ts';
import { newSessionRow } from '../sessions/new-session-row.ts';
import { changeSession, findSession, insertSession, type SessionRow } from '../sessions/session-table.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { newRecordRow, type NewRecord } from './new-record.ts';
import { reconcileRecords } from './reconcile-records.ts';
import {
  changeRecord,
  findRecord,
  insertRecord,
  listRecords,
  recordView,
  type RecordRow,
} from './record-table.ts';
import { reportIdentity } from './report-identity.ts';

const capabilities = Object.keys(CAPABILITIES) as Capability[];
const everything = { projection: new Projection(capabilities) };
/** Knows neither bundles nor environment profiles. */
const less = { projection: new Projection(['provider-id.open-v1']) };
const identity = (id: string, transcriptPath: string | null = null) =>
  ProviderSession.parse({ key: 'session-id', id, transcriptPath });
const bundle = `{"id":"b","revision":"1","digest":"sha256:${'0'.repeat(64)}"}`;

describe('an identity in the database', () => {
  let directory: string;
  let store: Store;
  let events: EventBody[];
  const workspaceId = WorkspaceId.parse('w');

  const open = () => {
    store = new Store(openDatabase(join(directory, 'node.db')));
    beginIncarnation(store, 'test');
    events = [];
    store.onEvent(({ body }) => events.push(body));
  };
  const record = (more: Partial<NewRecord> = {}, change: Partial<RecordRow> = {}): RecordRow => {
    const row = {
      ...newRecordRow({
        id: RecordId.parse(randomHexId()),
        name: SessionName.parse('coder'),
        provider: 'codex',
        transport: 'pty',
        workspaceId,
        workspaceRoot: '/w',
        directory: '/w',
        arguments: ['-m', 'x'],
        providerSession: null,
        run: null,
        environmentProfile: null,
        bundle: null,
        context: null,
        createdAt: 1_000,
        ...more,
      }),
      ...change,
    };
    store.transact((transaction) => insertRecord(transaction, row));
    return row;
  };
  /** A running session, with the record that it belongs to. */
  const session = (name: string, change: Partial<RecordRow> = {}): { run: SessionRow; own: RecordRow } => {
    const id = SessionId.parse(randomHexId());
    const own = record({ run: { id, generation: 1 }, name: SessionName.parse(name) }, change);
    const run = newSessionRow({
      id,
      recordId: own.id,
      generation: 1,
      name: own.name,
      provider: 'codex',
      transport: 'pty',
      workspaceId,
      directory: '/w',
      command: ['codex'],
      keeperId: KeeperId.parse(randomHexId()),
      size: null,
      createdAt: 1_000,
      process: { pid: 4_000_000, start: '1' },
    });
    store.transact((transaction) => insertSession(transaction, run));
    events.length = 0;
    return { run, own };
  };
  const has = (id: string) => ({ provider_session_key: 'session-id', provider_session_id: id }) as const;
  const now = ({ id }: RecordRow): SessionRecord => recordView(findRecord(store.sql, id)!);
  const told = () =>
    events.map((body) => {
      switch (body.kind) {
        case 'record-changed':
          return `${body.record.name} ${body.record.state}`;
        case 'session-changed':
          return `run ${body.session.generation}`;
        default:
          return body.kind;
      }
    });

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'roost-identity-'));
    open();
    store.transact(({ sql }) =>
      sql.run(
        'INSERT INTO workspaces (id, root, kind, created_at) VALUES (?, ?, ?, ?)',
        'w',
        '/w',
        'plain',
        1,
      ),
    );
  });
  afterEach(() => {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('makes a pending record live, once', () => {
    const { run, own } = session('coder');
    expect(own.state).toBe('identity-pending');
    expect(reportIdentity(store, everything, run.id, identity('t1', '/t'))).toMatchObject({
      id: own.id,
      state: 'live',
      providerSession: identity('t1', '/t'),
    });
    reportIdentity(store, everything, run.id, identity('t1'));
    expect(told()).toEqual(['coder live']);
    expect(now(own).providerSession).toEqual(identity('t1', '/t'));
  });

  it('folds a run into the record that rests: its name, task, arguments and count of runs go on, also after a restart', () => {
    const old = record(
      {
        name: SessionName.parse('old'),
        providerSession: { key: 'session-id', id: 't1' },
        arguments: ['-m', 'y'],
      },
      { generation: 3, task_revision: 2, task_id: null, task_changed_at: 5 },
    );
    const { run, own } = session('new');
    reportIdentity(store, everything, run.id, identity('t1', '/t'));
    expect(told()).toEqual(['old live', 'record-removed', 'run 4']);
    expect(findRecord(store.sql, own.id)).toBeNull();
    expect(now(old)).toMatchObject({
      name: 'old',
      generation: 4,
      activeSession: { workspaceId, sessionId: run.id, generation: 4 },
      taskBinding: { revision: 2 },
      providerSession: identity('t1', '/t'),
    });
    expect(findRecord(store.sql, old.id)?.arguments).toBe('["-m","y"]');
    expect(findSession(store.sql, run.id)).toMatchObject({ record_id: old.id, generation: 4, name: 'old' });
    const before = now(old);
    store.close();
    open();
    reconcileRecords(store, pino({ level: 'silent' }));
    const after = now(old);
    expect(after).toEqual({
      ...before,
      updatedAt: after.updatedAt,
      providerSession: identity('t1'),
    });
  });

  it('keeps the name of the run where another one has that of the record', () => {
    const old = record({
      name: SessionName.parse('taken'),
      providerSession: { key: 'session-id', id: 't1' },
    });
    session('taken');
    const { run } = session('mine');
    reportIdentity(store, everything, run.id, identity('t1'));
    expect(now(old)).toMatchObject({ name: 'mine', state: 'live' });
    expect(findSession(store.sql, run.id)?.name).toBe('mine');
  });

  it('lets a record rest that had another session, when its run goes to the record of that one', () => {
    const old = record({ name: SessionName.parse('old'), providerSession: { key: 'session-id', id: 't1' } });
    const { run, own } = session('new', { ...has('t0'), state: 'live' });
    reportIdentity(store, everything, run.id, identity('t1'));
    expect(now(own)).toMatchObject({
      state: 'dormant',
      activeSession: null,
      providerSession: identity('t0'),
    });
    expect(now(old)).toMatchObject({ state: 'live', activeSession: { sessionId: run.id } });
  });

  it('of a new session in the same run makes a new record; the run keeps its address and the old record rests', () => {
    const { run, own } = session('coder', {
      ...has('t0'),
      state: 'live',
      task_revision: 1,
      task_changed_at: 9,
    });
    const made = reportIdentity(store, everything, run.id, identity('t1'));
    expect(told()).toEqual(['coder dormant', 'coder live', 'run 1']);
    expect(made).toMatchObject({
      name: 'coder',
      activeSession: { sessionId: run.id, generation: 1 },
      providerSession: identity('t1'),
      taskBinding: { revision: 1 },
    });
    expect(made.id).not.toBe(own.id);
    expect(findSession(store.sql, run.id)).toMatchObject({ record_id: made.id, generation: 1 });
    expect(now(own)).toMatchObject({ state: 'dormant', activeSession: null, lastError: null });
    // Its end is the new record's alone.
    store.transact((transaction) =>
      changeSession(transaction, findSession(store.sql, run.id)!, { status: 'exited' }),
    );
    expect([now(own).state, recordView(findRecord(store.sql, made.id)!).state]).toEqual([
      'dormant',
      'dormant',
    ]);
  });

  it('takes along what was made for the run alone: the old record cannot be resumed without it', () => {
    const { run, own } = session('coder', { ...has('t0'), state: 'live', bundle });
    const made = reportIdentity(store, everything, run.id, identity('t1'));
    expect(made).toMatchObject({ bundle: { id: 'b' }, state: 'live' });
    expect(now(own)).toMatchObject({
      state: 'unavailable',
      lastError: 'bundle-unavailable',
      bundle: null,
      providerSession: null,
    });
  });

  it('without room for a record leaves the run without one, and says so in the old one', () => {
    const { run, own } = session('coder', { ...has('t0'), state: 'live' });
    store.transact(({ sql }) => {
      const columns = Object.keys(findRecord(sql, own.id)!).join(', ');
      const copied = columns
        .replace(/\bid\b/, "printf('%016x', value)")
        .replace('provider_session_id', "'x' || value");
      sql.run(
        `WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < ?)
          INSERT INTO records (${columns}) SELECT ${copied} FROM records, numbers WHERE records.id = ?`,
        RECORDS_MAX - 1,
        own.id,
      );
    });
    expect(listRecords(store.sql)).toHaveLength(RECORDS_MAX);
    expect(() => record()).toThrow(/records-exhausted/);
    expect(reportIdentity(store, everything, run.id, identity('t1'))).toMatchObject({
      id: own.id,
      state: 'unavailable',
      lastError: 'managed-session-capacity',
      activeSession: null,
    });
    expect(findSession(store.sql, run.id)).toMatchObject({ record_id: null, status: 'running' });
  });

  it('that the disk refuses is neither stored nor told', () => {
    const old = record({ providerSession: { key: 'session-id', id: 't1' } });
    const { run, own } = session('new');
    const before = [listRecords(store.sql), findSession(store.sql, run.id)];
    store.sql.exec("CREATE TRIGGER full BEFORE UPDATE ON sessions BEGIN SELECT RAISE(ABORT, 'full'); END");
    expect(() => reportIdentity(store, everything, run.id, identity('t1'))).toThrow();
    expect([listRecords(store.sql), findSession(store.sql, run.id)]).toEqual(before);
    expect(told()).toEqual([]);
    store.sql.exec('DROP TRIGGER full');
    reportIdentity(store, everything, run.id, identity('t1'));
    expect(now(old).state).toBe('live');
    expect(findRecord(store.sql, own.id)).toBeNull();
  });

  it('is refused to a caller that may not see the record of the run, or the one that it would be folded into', () => {
    const { run, own } = session('coder', { bundle });
    const environment_profile = '{"profileId":"p","revision":"r"}';
    const hidden = record({ providerSession: { key: 'session-id', id: 't2' } }, { environment_profile });
    const alone = { ...session('alone').run, id: SessionId.parse(randomHexId()), record_id: null };
    store.transact((transaction) => insertSession(transaction, { ...alone, environment_profile }));
    const before = [listRecords(store.sql), findSession(store.sql, run.id), findSession(store.sql, alone.id)];
    events.length = 0;
    expect(() => reportIdentity(store, less, run.id, identity('t1'))).toThrow(/unsupported-capability/);
    expect(() => reportIdentity(store, less, alone.id, identity('t2'))).toThrow(/unsupported-capability/);
    expect(told()).toEqual([]);
    expect([
      listRecords(store.sql),
      findSession(store.sql, run.id),
      findSession(store.sql, alone.id),
    ]).toEqual(before);
    reportIdentity(store, everything, run.id, identity('t1'));
    reportIdentity(store, everything, alone.id, identity('t2'));
    expect([now(own), now(hidden)]).toMatchObject([{ state: 'live' }, { state: 'live' }]);
  });

  it('of a run that is over is refused', () => {
    const { run } = session('coder');
    store.transact((transaction) => changeSession(transaction, run, { status: 'exited' }));
    expect(() => reportIdentity(store, everything, run.id, identity('t1'))).toThrow(FailureError);
  });

  it('and an id that a record has are never overwritten', () => {
    const one = record({ providerSession: { key: 'session-id', id: 't1' } });
    const before = listRecords(store.sql);
    expect(() => record({ id: one.id, name: SessionName.parse('other') })).toThrow(/session-record-conflict/);
    expect(() => record({ providerSession: { key: 'session-id', id: 't1' } })).toThrow(
      /session-record-conflict/,
    );
    expect(listRecords(store.sql)).toEqual(before);
  });

  it('is found again by whatever a crash left: a claimed run that is gone is let go, a run without its record runs on', () => {
    const gone = record({ run: { id: SessionId.parse(randomHexId()), generation: 1 } }, has('t1'));
    const { run, own } = session('coder');
    store.transact((transaction) => {
      transaction.sql.run('DELETE FROM records WHERE id = ?', own.id);
      changeRecord(transaction, gone, { state: 'live' });
    });
    reconcileRecords(store, pino({ level: 'silent' }));
    expect(now(gone)).toMatchObject({ state: 'dormant', activeSession: null });
    expect(findSession(store.sql, run.id)).toMatchObject({ record_id: null, status: 'running' });
    events.length = 0;
    reconcileRecords(store, pino({ level: 'silent' }));
    expect(events).toEqual([]);
  });
});
