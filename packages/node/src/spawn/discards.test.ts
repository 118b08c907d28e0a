import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FailureError, SessionId } from '@roost/protocol';
import { randomHexId } from '../node-identity.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { Discards } from './discards.ts';

let directory: string;
let store: Store;
let discards: Discards;
let ended: SessionId[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roost-discards-'));
  store = new Store(openDatabase(join(directory, 'node.db')));
  ended = [];
  const log = pino({ level: 'silent' });
  discards = new Discards({ store, log, ended: (id) => ended.push(id) });
});
afterEach(() => {
  discards.close();
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

function givenUp(keeperId: string | null): SessionId {
  const id = SessionId.parse(randomHexId());
  store.sql.run('INSERT INTO removals (session_id, keeper_id, discard) VALUES (?, ?, 1)', id, keeperId);
  return id;
}

function refuseOnce(method: 'all' | 'exec'): void {
  vi.spyOn(store.sql, method).mockImplementationOnce(() => {
    throw new FailureError('storage-failed');
  });
}

it.each(['all', 'exec'] as const)(
  'launches of a lost keeper are proven to be gone although the disk fails at first (%s)',
  async (method) => {
    const id = givenUp('a');
    const other = givenUp('b');
    refuseOnce(method);
    await discards.lostKeeper('a');
    expect(ended).toEqual([id]);
    expect([...discards.ids]).toEqual([other]);
  },
);

it('launches of an earlier start without a keeper are proven to be gone although the disk fails at first', async () => {
  const ids = [givenUp(null), givenUp('gone')];
  const other = givenUp('present');
  refuseOnce('all');
  await discards.lostAllBut(new Set(['present']));
  expect(ended.sort()).toEqual(ids.sort());
  expect([...discards.ids]).toEqual([other]);
});
