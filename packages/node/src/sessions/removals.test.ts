import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FailureError } from '@roost/protocol';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { removedSessions, Removals } from './removals.ts';

let directory: string;
let store: Store;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roost-removals-'));
  store = new Store(openDatabase(join(directory, 'node.db')));
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

it('cleans up what it can when one keeper refuses, and keeps the rest noted', async () => {
  const [stuck, free] = ['0000000000000001', '0000000000000002'];
  for (const [id, keeper] of [
    [stuck, 'ffffffffffffffff'],
    [free, null],
  ] as const) {
    mkdirSync(join(directory, id));
    store.sql.run('INSERT INTO removals (session_id, keeper_id) VALUES (?, ?)', id, keeper);
  }
  const refusing = {
    isConnected: true,
    children: new Map([[stuck, {}]]),
    release: () => Promise.reject(new FailureError('keeper-unavailable')),
  } as unknown as KeeperLink;
  const removals = new Removals({
    store,
    keepers: { get: (id) => (id === null ? null : refusing) },
    sessionsDirectory: directory,
    log: pino({ level: 'silent' }),
  });
  await removals.clean();
  expect(removedSessions(store)).toEqual(new Set([stuck]));
  expect([stuck, free].map((id) => existsSync(join(directory, id)))).toEqual([true, false]);
});
