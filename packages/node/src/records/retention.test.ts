/** The sweep of old records over a real database: which go, what is told, and what happens to those that change meanwhile. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RecordId, SessionId, SessionName, WorkspaceId, type EventBody } from '@roost/protocol';
import { beginIncarnation } from '../node-identity.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { newRecordRow } from './new-record.ts';
import { changeRecord, findRecord, insertRecord, listRecords, type RecordRow } from './record-table.ts';
import { RecordRetention, type RetentionPolicy } from './retention.ts';

let directory: string;
let store: Store;
let events: EventBody[];
let names: Map<RecordId, string>;

/** Unless told otherwise unavailable, without a run, changed so many seconds ago. */
const insert = (name: string, workspace: string, seconds: number, change: Partial<RecordRow> = {}) => {
  const id = RecordId.parse(String(names.size + 1).padStart(16, '0'));
  names.set(id, name);
  const row = newRecordRow({
    id,
    name: SessionName.parse(name),
    provider: 'claude',
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
    createdAt: 1,
  });
  const updated_at = Date.now() - seconds * 1_000;
  store.transact((transaction) =>
    insertRecord(transaction, { ...row, state: 'unavailable', updated_at, ...change }),
  );
};
const remaining = () => listRecords(store.sql).map(({ id }) => names.get(id) ?? id);
const told = () =>
  events.flatMap((body) => (body.kind === 'record-removed' ? [names.get(body.recordId)] : []));
const retention = (policy: RetentionPolicy) =>
  new RecordRetention({ store, policy, log: pino({ enabled: false }), onRemoved: () => undefined });

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roost-retention-'));
  store = new Store(openDatabase(join(directory, 'node.db')));
  beginIncarnation(store, 'test');
  names = new Map();
  for (const [name, seconds] of [
    ['a1', 500],
    ['a2', 300],
    ['a3', 100],
  ] as const)
    insert(name, 'a', seconds);
  for (const [name, seconds] of [
    ['b1', 400],
    ['b2', 200],
    ['b3', 50],
  ] as const)
    insert(name, 'b', seconds);
  const run = { active_session_id: SessionId.parse('00000000000000a1') };
  insert('live', 'a', 500, { state: 'live', ...run });
  insert('pending', 'a', 500, { state: 'identity-pending', ...run });
  insert('dormant', 'a', 500, { state: 'dormant' });
  insert('conflict', 'a', 500, run);
  events = [];
  store.onEvent(({ body }) => events.push(body));
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

const KEPT = ['live', 'pending', 'dormant', 'conflict'];

it.each([
  ['by number', { retainMs: 0, keepPerWorkspace: 1 }, ['a3', 'b3'], ['a1', 'a2', 'b1', 'b2']],
  ['by age', { retainMs: 250_000, keepPerWorkspace: 0 }, ['a3', 'b2', 'b3'], ['a1', 'a2', 'b1']],
  ['by both', { retainMs: 250_000, keepPerWorkspace: 1 }, ['a3', 'b2', 'b3'], ['a1', 'a2', 'b1']],
  ['by none', { retainMs: 0, keepPerWorkspace: 0 }, ['a1', 'a2', 'a3', 'b1', 'b2', 'b3'], []],
])(
  '%s tells of each record that goes, counts it, and leaves all others as they are',
  async (_, policy, stay, go) => {
    const sweeping = retention(policy);
    await sweeping.sweep();
    expect(new Set(remaining())).toEqual(new Set([...stay, ...KEPT]));
    expect(new Set(told())).toEqual(new Set(go));
    expect(events).toHaveLength(go.length);
    expect(sweeping.retired).toBe(go.length);
    await sweeping.sweep();
    expect(events).toHaveLength(go.length);
    await sweeping.close();
  },
);

it('leaves a record alone that changes between the look and the deletion', async () => {
  const sweeping = retention({ retainMs: 0, keepPerWorkspace: 1 });
  const swept = sweeping.sweep();
  const [id] = [...names].find(([, name]) => name === 'a1') ?? [];
  const record = id === undefined ? null : findRecord(store.sql, id);
  if (record === null) throw new Error('it is there');
  store.transact((transaction) => changeRecord(transaction, record, { updated_at: record.updated_at + 1 }));
  await swept;
  expect(remaining()).toContain('a1');
  expect(new Set(told())).toEqual(new Set(['a2', 'b1', 'b2']));
  await sweeping.close();
});
