import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  CAPABILITIES,
  KeeperId,
  Projection,
  RECORDS_MAX,
  RecordId,
  RESUME_TIMEOUT_MS,
  SessionId,
  SessionName,
  WorkspaceId,
  type Capability,
} from '@roost/protocol';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import { beginIncarnation, randomHexId } from '../node-identity.ts';
import { failureOf } from '../node-for-test.ts';
import { SessionLifecycle } from '../sessions/lifecycle.ts';
import { newSessionRow } from '../sessions/new-session-row.ts';
import { PipeOutput } from '../sessions/pipe-output.ts';
import { insertSession, listSessions, type SessionRow } from '../sessions/session-table.ts';
import { spawnSession } from '../sessions/spawn.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { Reservations } from '../worktrees/reservations.ts';
import { newRecordRow } from './new-record.ts';
import {
  changeRecord,
  deleteRecord,
  findRecord,
  insertRecord,
  recordView,
  type RecordRow,
} from './record-table.ts';
import { AS_KNOWN } from '../spawn/launching-for-test.ts';
import { resumeRecord, type ResumeScene } from './resume.ts';

/** A node's parts around a keeper that never answers: what is decided before a process runs, and when none ever does. */
describe('a resume', () => {
  const keeperId = KeeperId.parse(randomHexId());
  const log = pino({ level: 'silent' });
  let directory: string;
  let store: Store;
  let lifecycle: SessionLifecycle;
  let asked: string[];
  /** What happens while a keeper is looked for. */
  let meanwhile: () => void;
  let scene: ResumeScene;
  let record: RecordRow;

  const session = (change: Partial<SessionRow> = {}): SessionRow => ({
    ...newSessionRow({
      id: SessionId.parse(randomHexId()),
      recordId: null,
      generation: 1,
      name: SessionName.parse('beside'),
      provider: 'shell',
      transport: 'pty',
      workspaceId: record.workspace_id,
      directory,
      command: ['sh'],
      keeperId,
      size: null,
      createdAt: 1,
      process: { pid: 4_000_000, start: '1' },
    }),
    ...change,
  });
  const other = { environment_profile: '{"profileId":"p","revision":"r"}' };
  const resume = () => resumeRecord(scene, { record, size: { columns: 80, rows: 24 }, prompt: null });
  const everything = () => [listSessions(store.sql, true, -1), findRecord(store.sql, record.id)];

  beforeEach(() => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), 'roost-resume-')));
    const bin = join(directory, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'claude'), '#!/bin/sh\n');
    chmodSync(join(bin, 'claude'), 0o755);
    store = new Store(openDatabase(join(directory, 'node.db')));
    beginIncarnation(store, 'test');
    lifecycle = new SessionLifecycle({
      store,
      output: new PipeOutput(directory, log),
      sessionsDirectory: directory,
      log,
    });
    asked = [];
    meanwhile = () => undefined;
    const link = {
      id: keeperId,
      isConnected: true,
      reserved: 1,
      children: new Map(),
      call: (name: string) => {
        asked.push(name);
        return new Promise(() => undefined);
      },
    } as unknown as KeeperLink;
    scene = {
      store,
      lifecycle,
      reservations: new Reservations(),
      keepers: {
        place: () => {
          meanwhile();
          return Promise.resolve(link);
        },
      },
      removed: () => undefined,
      source: { environment: { PATH: bin }, home: directory, providers: AS_KNOWN },
    };
    const workspaceId = WorkspaceId.parse('w');
    record = newRecordRow({
      id: RecordId.parse(randomHexId()),
      name: SessionName.parse('reviewer'),
      provider: 'claude',
      transport: 'pty',
      workspaceId,
      workspaceRoot: directory,
      directory,
      arguments: [],
      providerSession: { key: 'session-id', id: 't1' },
      run: null,
      environmentProfile: null,
      bundle: null,
      context: null,
      createdAt: 1,
    });
    store.transact((transaction) => {
      transaction.sql.run(
        'INSERT INTO workspaces (id, root, kind, created_at) VALUES (?, ?, ?, ?)',
        workspaceId,
        directory,
        'plain',
        1,
      );
      insertRecord(transaction, record);
    });
  });
  afterEach(() => {
    vi.useRealTimers();
    lifecycle.close();
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('is refused where another environment lives in the workspace, and not where that has ended', async () => {
    store.transact((transaction) => insertSession(transaction, session(other)));
    const before = everything();
    expect(await failureOf(resume())).toBe('workspace-busy');
    expect([everything(), asked]).toEqual([before, []]);
    store.transact(({ sql }) => sql.run("UPDATE sessions SET status = 'exited'"));
    void resume().catch(() => undefined);
    await expect.poll(() => asked).toEqual(['spawn']);
  });

  it.each([
    [
      'it was forgotten',
      (row: RecordRow) => store.transact((t) => deleteRecord(t, row)),
      'unknown-session-record',
    ],
    [
      'it became another session of its provider',
      (row: RecordRow) => store.transact((t) => changeRecord(t, row, { provider_session_id: 't2' })),
      'session-record-conflict',
    ],
    [
      'it lost its provider session',
      (row: RecordRow) =>
        store.transact((t) =>
          changeRecord(t, row, { provider_session_id: null, provider_session_key: null }),
        ),
      'session-record-not-resumable',
    ],
    [
      'it got other arguments',
      (row: RecordRow) => store.transact((t) => changeRecord(t, row, { arguments: '["-c"]' })),
      'session-record-conflict',
    ],
    [
      'its workspace was unregistered',
      () => store.transact(({ sql }) => sql.run('DELETE FROM workspaces')),
      'unknown-workspace',
    ],
    [
      'its workspace became another directory',
      () => store.transact(({ sql }) => sql.run("UPDATE workspaces SET root = '/'")),
      'session-record-conflict',
    ],
    [
      'another environment came into its workspace',
      () => store.transact((t) => insertSession(t, session(other))),
      'workspace-busy',
    ],
    [
      'somebody else resumed it',
      (row: RecordRow) =>
        store.transact((t) => insertSession(t, session({ record_id: row.id, name: row.name }))),
      'session-record-busy',
    ],
  ] as const)('starts nothing when, while a keeper was looked for, %s', async (_, change, code) => {
    let after: unknown;
    meanwhile = () => {
      change(record);
      after = everything();
    };
    expect(await failureOf(resume())).toBe(code);
    expect([everything(), asked]).toEqual([after, []]);
  });

  it('that does not come to run in time leaves no run, and the record can be resumed again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const code = failureOf(resume());
    await expect.poll(() => asked).toEqual(['spawn']);
    expect(recordView(findRecord(store.sql, record.id)!)).toMatchObject({ state: 'live', generation: 1 });
    await vi.advanceTimersByTimeAsync(RESUME_TIMEOUT_MS);
    expect(await code).toBe('spawn-deadline-exceeded');
    expect(listSessions(store.sql, true, -1)).toEqual([]);
    // Whatever the keeper starts late is ended: its id is noted.
    expect(lifecycle.discards.ids.size).toBe(1);
    vi.useRealTimers();
    record = findRecord(store.sql, record.id)!;
    expect(recordView(record)).toMatchObject({ state: 'dormant', activeSession: null });
    void resume().catch(() => undefined);
    await expect.poll(() => asked).toEqual(['spawn', 'spawn']);
  });

  it('is possible where a launch that needs one record more is refused whole', async () => {
    store.transact(({ sql }) => {
      const columns = Object.keys(record).join(', ');
      const copied = columns
        .replace(/\bid\b/, "printf('%016x', value)")
        .replace('provider_session_id', "'x' || value");
      sql.run(
        `WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < ?)
          INSERT INTO records (${columns}) SELECT ${copied} FROM records, numbers WHERE records.id = ?`,
        RECORDS_MAX - 1,
        record.id,
      );
    });
    const caller = { projection: new Projection(Object.keys(CAPABILITIES) as Capability[]) };
    const launch = spawnSession(
      { ...scene, caller },
      {
        directory,
        transport: 'pty',
        launch: { kind: 'provider', provider: 'claude', arguments: [] },
        size: { columns: 80, rows: 24 },
        environment: {},
      },
    );
    expect(await failureOf(launch)).toBe('records-exhausted');
    expect([listSessions(store.sql, true, -1), asked]).toEqual([[], []]);
    void resume().catch(() => undefined);
    await expect.poll(() => asked).toEqual(['spawn']);
  });
});
