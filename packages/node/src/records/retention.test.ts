import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeeperId, RecordId, SessionId, SessionName, WorkspaceId, type RecordState } from '@roost/protocol';
import { beginIncarnation, randomHexId } from '../node-identity.ts';
import { newSessionRow } from '../sessions/new-session-row.ts';
import { findSession, insertSession, type SessionRow } from '../sessions/session-table.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { newRecordRow } from './new-record.ts';
import { changeRecord, insertRecord, listRecords } from './record-table.ts';
import { RecordRetention, type RetentionPolicy } from './retention.ts';

describe('the sweep of old records', () => {
  let directory: string;
  let store: Store;
  let removed: string[];
  let cleanups: number;

  const add = (name: string, workspace: string, ageMs: number, state: RecordState = 'unavailable') => {
    const at = Date.now() - ageMs;
    const row = newRecordRow({
      id: RecordId.parse(randomHexId()),
      name: SessionName.parse(name),
      provider: 'shell',
      transport: 'pty',
      workspaceId: WorkspaceId.parse(workspace),
      workspaceRoot: '/w',
      directory: '/w',
      arguments: [],
      providerSession: null,
      run: null,
      environmentProfile: null,
      bundle: null,
      context: null,
      createdAt: at,
    });
    store.transact((transaction) => insertRecord(transaction, { ...row, state }));
    return row;
  };
  const run = (record: ReturnType<typeof add>, status: SessionRow['status']): SessionRow => ({
    ...newSessionRow({
      id: SessionId.parse(randomHexId()),
      recordId: record.id,
      generation: 1,
      name: record.name,
      provider: 'shell',
      transport: 'pty',
      workspaceId: record.workspace_id,
      directory: '/w',
      command: ['sh'],
      keeperId: KeeperId.parse(randomHexId()),
      size: null,
      createdAt: 1,
      process: { pid: 4_000_000, start: '1' },
    }),
    status,
  });
  const retention = (policy: RetentionPolicy) =>
    new RecordRetention({
      store,
      policy,
      log: pino({ level: 'silent' }),
      onRemoved: () => (cleanups += 1),
    });
  const names = () => listRecords(store.sql).map(({ name }) => name);

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'roost-retention-'));
    store = new Store(openDatabase(join(directory, 'node.db')));
    beginIncarnation(store, 'test');
    removed = [];
    cleanups = 0;
    store.onEvent(({ body }) => {
      if (body.kind === 'record-removed') removed.push(body.recordId);
    });
  });
  afterEach(() => {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it.each([
    [{ retainMs: 0, keepPerWorkspace: 1 }, ['a1', 'a2', 'b1', 'b2']],
    [{ retainMs: 250_000, keepPerWorkspace: 1 }, ['a1', 'a2', 'b1']],
    [{ retainMs: 0, keepPerWorkspace: 0 }, []],
  ])('with %j takes %j and tells of each', async (policy, gone) => {
    for (const [name, workspace, age] of [
      ['a1', 'a', 500_000],
      ['a2', 'a', 300_000],
      ['a3', 'a', 100_000],
      ['b1', 'b', 400_000],
      ['b2', 'b', 200_000],
      ['b3', 'b', 50_000],
    ] as const)
      add(name, workspace, age);
    for (const state of ['live', 'identity-pending', 'dormant'] as const) add(state, 'a', 500_000, state);
    const all = listRecords(store.sql);
    const sweeper = retention(policy);
    await sweeper.sweep();
    expect(names()).toEqual(all.map(({ name }) => name).filter((name) => !gone.includes(name)));
    expect(removed.sort()).toEqual(
      all
        .filter(({ name }) => gone.includes(name))
        .map(({ id }) => id)
        .sort(),
    );
    expect([sweeper.retired, cleanups]).toEqual([gone.length, gone.length > 0 ? 1 : 0]);
  });

  it('takes ended runs along, and no record that a run lives in', async () => {
    const over = add('over', 'a', 500_000);
    const flagged = add('flagged', 'a', 500_000);
    const ended = run(over, 'exited');
    const lives = run(flagged, 'running');
    store.transact((transaction) => {
      insertSession(transaction, ended);
      insertSession(transaction, lives);
      const [, row] = listRecords(transaction.sql);
      changeRecord(transaction, row!, { state: 'unavailable', last_error: 'provider-session-live-conflict' });
    });
    await retention({ retainMs: 1, keepPerWorkspace: 0 }).sweep();
    expect(names()).toEqual(['flagged']);
    expect(findSession(store.sql, ended.id)).toBeNull();
    expect(findSession(store.sql, lives.id)).not.toBeNull();
  });

  it('leaves alone what changed while it was under way, and lets others in between', async () => {
    const records = Array.from({ length: 40 }, (_, index) => add(`r${index}`, 'a', 500_000 - index));
    const sweeping = retention({ retainMs: 1, keepPerWorkspace: 0 }).sweep();
    await new Promise((resolve) => setImmediate(resolve));
    expect(names().length).toBeGreaterThan(0);
    const oldest = records[0]!;
    store.transact((transaction) => changeRecord(transaction, oldest, { updated_at: oldest.updated_at + 1 }));
    await sweeping;
    expect(names()).toEqual(['r0']);
  });
});
