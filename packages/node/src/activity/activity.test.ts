import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Incarnation, KeeperId, SessionId, SessionName, WorkspaceId } from '@roost/protocol';
import type { ScreenFrame } from '@roost/keeper/wire';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import { newSessionRow } from '../sessions/new-session-row.ts';
import { findSession, insertSession } from '../sessions/session-table.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { Activities } from './activity.ts';
import { parseActivity } from './stored-activity.ts';

const id = SessionId.parse('0'.repeat(16));
const keeperId = KeeperId.parse('1'.repeat(16));
const rule = '─'.repeat(40);
const COMPOSER: ScreenFrame = {
  revision: 1,
  lines: [rule, '❯ ', rule, '  ? for shortcuts'],
  size: { columns: 80, rows: 24 },
  cursor: { column: 2, row: 1, visible: true },
  title: null,
  alternateScreen: false,
  drawing: '',
  ended: false,
};

let directory: string;
let store: Store;
beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  directory = mkdtempSync(join(tmpdir(), 'roost-activity-'));
  store = new Store(openDatabase(join(directory, 'node.db')));
  store.transact((transaction) => store.begin(transaction, Incarnation.parse('0'.repeat(16))));
});
afterEach(() => {
  vi.useRealTimers();
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Activities of one agent whose terminal shows that it waits for a prompt, from the first look on. */
function setUp(now?: () => number) {
  const asked: number[] = [];
  let lookAgain: () => void = () => undefined;
  const link = {
    isConnected: true,
    // The first screen at once; the same again when a test says so.
    call: (_: string, { after }: { after: number }) => {
      asked.push(after);
      if (after < COMPOSER.revision) return Promise.resolve(COMPOSER);
      return new Promise((resolve) => {
        lookAgain = () => resolve({ ...COMPOSER, revision: after + 1 });
      });
    },
  } as unknown as KeeperLink;
  const activities = new Activities({
    store,
    keepers: { get: () => link },
    lifecycle: { write: (change) => store.transact(change) },
    log: pino({ level: 'silent' }),
    ...(now === undefined ? {} : { now }),
  });
  const row = newSessionRow({
    id,
    recordId: null,
    generation: 1,
    name: SessionName.parse('agent'),
    provider: 'claude',
    transport: 'pty',
    workspaceId: WorkspaceId.parse('here'),
    directory: '/here',
    command: ['claude'],
    keeperId,
    size: { columns: 80, rows: 24 },
    createdAt: 1,
    process: null,
  });
  store.transact((transaction) => insertSession(transaction, { ...row, status: 'running' }));
  const shown = () => parseActivity(findSession(store.sql, id)?.activity ?? null);
  return { activities, asked, shown, lookAgain: () => lookAgain() };
}

it('shows what is steady also when a timer fires a little before its time on the clock', async () => {
  // At each moment the first reading is a millisecond behind: a timer counts by another clock than the one that is read.
  let readAt = 0;
  const now = () => {
    const moment = Date.now();
    const isFirst = readAt !== moment;
    readAt = moment;
    return isFirst ? moment - 1 : moment;
  };
  const { activities, asked, shown } = setUp(now);
  expect(shown()?.state).toBe('starting');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked).toEqual([-1, 1]);
  expect(shown()?.state).toBe('ready');
  activities.close();
});

it.each([
  ['back', -3_600_000],
  ['forward', 3_600_000],
])('goes on when the clock of the machine is set %s, and tells the time by it', async (_, step) => {
  const { activities, asked, shown, lookAgain } = setUp();
  await vi.advanceTimersByTimeAsync(200);
  expect(asked).toEqual([-1, 1]);
  expect(shown()?.state).toBe('starting');
  vi.setSystemTime(Date.now() + step);
  lookAgain();
  await vi.advanceTimersByTimeAsync(100);
  // Not steady for long enough yet.
  expect(shown()?.state).toBe('starting');
  await vi.advanceTimersByTimeAsync(2_500);
  expect(shown()?.state).toBe('ready');
  expect(Math.abs(Date.parse(shown()?.since ?? '') - Date.now())).toBeLessThan(3_000);
  activities.close();
});
