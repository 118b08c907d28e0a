import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { KeeperId, RecordId, SessionId, SessionName, WorkspaceId } from '@roost/protocol';
import { beginIncarnation } from '../node-identity.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { newSessionRow, type NewSession } from './new-session-row.ts';
import { changeSession, deleteSession, findSession, insertSession } from './session-table.ts';
import { waitForEnd } from './wait.ts';

const asked: NewSession = {
  id: SessionId.parse('00000000000000a1'),
  recordId: RecordId.parse('00000000000000b1'),
  generation: 1,
  name: SessionName.parse('one'),
  provider: 'command',
  transport: 'pty',
  workspaceId: WorkspaceId.parse('w1'),
  directory: '/d',
  command: ['run', 'x'.repeat(100_000)],
  keeperId: KeeperId.parse('00000000000000c1'),
  size: { columns: 80, rows: 24 },
  createdAt: 1,
  process: null,
};

let directory: string;
let store: Store;

const insert = (session: NewSession) => {
  const row = newSessionRow(session);
  store.transact((transaction) => {
    insertSession(transaction, row);
  });
  return row;
};

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roost-rows-'));
  store = new Store(openDatabase(join(directory, 'node.db')));
  beginIncarnation(store, 'test');
});
afterEach(() => {
  vi.restoreAllMocks();
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

it('keeps of an asked-for and of a found session the same, with the command cut to size', () => {
  const found = {
    ...asked,
    id: SessionId.parse('00000000000000a2'),
    recordId: RecordId.parse('00000000000000b2'),
    generation: 1,
    process: { pid: 7, start: '99' },
  };
  const rows = [asked, found].map(insert);
  expect(rows).toMatchObject([
    { status: 'starting', pid: null, process_start: null },
    { status: 'running', pid: 7, process_start: '99' },
  ]);
  expect(rows.map((row) => JSON.parse(findSession(store.sql, row.id)!.command) as unknown)).toEqual(
    Array(2).fill(['run', `${'x'.repeat(512)}…`]),
  );
});

it.each(['exited', 'removed'])('wakes who waits for a session that is %s, without a read', async (how) => {
  const row = insert({ ...asked, recordId: null });
  const wait = { sessionId: row.id, waitMs: 60_000, signal: new AbortController().signal };
  let over = false;
  const waiting = waitForEnd(store, wait).then(() => (over = true));
  store.transact((transaction) => changeSession(transaction, row, { status: 'running', pid: 7 }));
  await new Promise((resolve) => setImmediate(resolve));
  expect(over).toBe(false);
  vi.spyOn(store.sql, 'get').mockImplementation(() => {
    throw new Error('the disk cannot be read');
  });
  store.transact((transaction) => {
    if (how === 'exited') changeSession(transaction, row, { status: 'exited', exit_code: 0 });
    else deleteSession(transaction, row);
  });
  await waiting;
  vi.restoreAllMocks();
  expect(findSession(store.sql, row.id)?.status).toBe(how === 'exited' ? 'exited' : undefined);
});
