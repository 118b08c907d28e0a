/** Whatever happens to the rows, the view that events keep up with is the one that a start would read from them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  KeeperId,
  RecordId,
  SessionId,
  SessionName,
  SessionStatus,
  WorkspaceId,
  type NodeSnapshot,
} from '@roost/protocol';
import type { Caller } from '../control/handlers.ts';
import { Journal } from '../events/journal.ts';
import { beginIncarnation, type NodeIdentity } from '../node-identity.ts';
import { changeRecord, deleteRecord, findRecord, insertRecord } from '../records/record-table.ts';
import {
  changeSession,
  deleteSession,
  findSession,
  insertSession,
  type SessionRow,
} from '../sessions/session-table.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store, type Transaction } from '../store/store.ts';
import { snapshotOperations } from './snapshot.ts';

let directory: string;
let store: Store;
let journal: Journal;
let identity: NodeIdentity;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roost-rows-'));
  store = new Store(openDatabase(join(directory, 'node.db')));
  identity = beginIncarnation(store, '0');
  journal = new Journal(store);
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

const hex = (number: number) => number.toString(16).padStart(16, '0');
const sessionId = (number: number) => SessionId.parse(hex(number));
const recordId = (number: number) => RecordId.parse(hex(100 + number));
const workspaceId = (number: number) => WorkspaceId.parse(`w${number}`);

function view(): () => NodeSnapshot {
  const operations = snapshotOperations({
    store,
    journal,
    identity,
    keepers: { child: () => null },
    lease: { state: null },
    profiles: { summaries: () => [] },
    worktreeProfiles: { summaries: () => [] },
    providers: { statuses: [] },
  });
  return () => operations['node.snapshot']({}, {} as Caller) as NodeSnapshot;
}

const sessionRow = (number: number, record: number | null, workspace: number): SessionRow => ({
  id: sessionId(number),
  record_id: record === null ? null : recordId(record),
  generation: 1,
  name: SessionName.parse(`s${number}`),
  provider: 'claude',
  transport: 'pty',
  status: 'running',
  workspace_id: workspaceId(workspace),
  directory: '/',
  command: '["claude"]',
  environment_profile: null,
  base_commit: null,
  activity: null,
  protocol: null,
  keeper_id: KeeperId.parse(hex(1)),
  pid: 1,
  process_start: '1',
  columns: 80,
  rows: 24,
  title: null,
  created_at: Date.now(),
  ended_at: null,
  exit_code: null,
  exit_signal: null,
  end_reason: null,
  stop_requested: 0,
});

type Step = (transaction: Transaction) => void;

const small = fc.nat(3);
const Change: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(small, fc.option(small), small).map(([number, record, workspace]): Step => (transaction) => {
    if (findSession(transaction.sql, sessionId(number)) === null)
      insertSession(transaction, sessionRow(number, record, workspace));
  }),
  fc
    .tuple(small, fc.constantFrom(...SessionStatus.options), fc.option(fc.constantFrom('a', 'ü')))
    .map(([number, status, title]): Step => (transaction) => {
      const row = findSession(transaction.sql, sessionId(number));
      if (row !== null) changeSession(transaction, row, { status, title });
    }),
  small.map((number): Step => (transaction) => {
    const row = findSession(transaction.sql, sessionId(number));
    if (row !== null) deleteSession(transaction, row);
  }),
  fc.tuple(small, small).map(([number, workspace]): Step => (transaction) => {
    if (findRecord(transaction.sql, recordId(number)) !== null) return;
    insertRecord(transaction, {
      id: recordId(number),
      name: SessionName.parse(`r${number}`),
      provider: 'claude',
      transport: 'pty',
      state: 'dormant',
      workspace_id: workspaceId(workspace),
      workspace_root: '/',
      directory: '/',
      arguments: '[]',
      generation: 1,
      provider_session_key: null,
      provider_session_id: null,
      transcript_path: null,
      active_session_id: null,
      environment_profile: null,
      bundle: null,
      context: null,
      interactions: null,
      task_revision: 0,
      task_id: null,
      task_changed_at: null,
      created_at: Date.now(),
      updated_at: Date.now(),
      last_error: null,
    });
  }),
  fc.tuple(small, fc.constantFrom('a', 'b')).map(([number, name]): Step => (transaction) => {
    const row = findRecord(transaction.sql, recordId(number));
    if (row !== null) changeRecord(transaction, row, { name: SessionName.parse(name) });
  }),
  small.map((number): Step => (transaction) => {
    const row = findRecord(transaction.sql, recordId(number));
    if (row !== null) deleteRecord(transaction, row);
  }),
);

it('holds for any changes, several in a transaction, some of them rolled back', () => {
  const Transactions = fc.array(
    fc.record({ steps: fc.array(Change, { minLength: 1, maxLength: 4 }), fails: fc.boolean() }),
    { maxLength: 25 },
  );
  fc.assert(
    fc.property(Transactions, (transactions) => {
      const kept = view();
      for (const { steps, fails } of transactions) {
        const work = () =>
          store.transact((transaction) => {
            for (const step of steps) step(transaction);
            if (fails) throw new Error('rolled back');
          });
        if (fails) expect(work).toThrow('rolled back');
        else work();
      }
      expect(kept()).toEqual(view()());
      expect(kept().sequence).toBe(journal.range().last);
    }),
    { numRuns: 40 },
  );
});
