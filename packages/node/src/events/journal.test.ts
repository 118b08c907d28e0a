import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WorkspaceId, type NodeEvent } from '@roost/protocol';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { EventFollower, UNREAD_EVENT_BYTES_MAX } from './follower.ts';
import { Journal } from './journal.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the journal', () => {
  let directory: string;
  let store: Store;
  let journal: Journal;

  const append = (number = 1) =>
    store.transact(({ append: add }) => {
      for (let index = 0; index < number; index += 1) {
        add({ kind: 'workspace-unregistered', workspaceId: WorkspaceId.parse('w') });
      }
    });
  const source = {
    read: (after: number, limit: number) => journal.read(after, limit),
    onEvent: (listener: (event: NodeEvent) => void) => store.onEvent(listener),
  };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'roost-journal-'));
    store = new Store(openDatabase(join(directory, 'node.db')));
    journal = new Journal(store, 5_000);
  });
  afterEach(() => {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('publishes after the commit, in order, without gaps, and nothing of what failed', () => {
    const heard: number[] = [];
    store.onEvent((event) => {
      expect(journal.range().last).toBeGreaterThanOrEqual(event.sequence);
      heard.push(event.sequence);
    });
    append(2);
    expect(() =>
      store.transact(({ append: add }) => {
        add({ kind: 'workspace-unregistered', workspaceId: WorkspaceId.parse('w') });
        throw new Error('no');
      }),
    ).toThrow('no');
    append();
    expect(heard).toEqual([1, 2, 3]);
    expect(journal.read(0, 10).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  });

  it('forgets the oldest beyond its bound, in batches', () => {
    append(9_500);
    while (journal.prune());
    expect(journal.range()).toEqual({ floor: 4_001, last: 9_500 });
    append();
    expect(journal.range().last).toBe(9_501);
  });

  it('is followed from any sequence into live events: none twice, none missing, in order', async () => {
    append(2_500);
    const heard: number[] = [];
    const follower = new EventFollower(source, 700, {
      send: (event, sent) => {
        heard.push(event.sequence);
        // New events while old ones are being read.
        if (event.sequence % 500 === 0 && event.sequence < 3_000) append(3);
        if (sent !== undefined) setImmediate(() => sent());
      },
      unreadBytes: () => 0,
      giveUp: () => expect.unreachable(),
    });
    for (let turns = 0; turns < 50; turns += 1) await turn();
    append(2);
    const { last } = journal.range();
    expect(heard).toEqual(Array.from({ length: last - 700 }, (_, index) => 701 + index));
    follower.stop();
    append();
    expect(heard.at(-1)).toBe(last);
  });

  it('lets go of a reader that does not read live events', async () => {
    let overflowed = 0;
    let sent = 0;
    new EventFollower(source, 0, {
      send: () => (sent += 1),
      unreadBytes: () => UNREAD_EVENT_BYTES_MAX + 1,
      giveUp: () => (overflowed += 1),
    });
    await turn();
    append(5);
    expect([sent, overflowed]).toEqual([0, 1]);
  });
});
