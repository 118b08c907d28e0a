import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Incarnation, NodeEvent, WorkspaceId } from '@roost/protocol';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { EventFollower } from './follower.ts';
import { Journal } from './journal.ts';
import { RecentEvents } from './recent-events.ts';

const incarnation = (digit: string) => Incarnation.parse(digit.repeat(16));
const [A, B] = [incarnation('a'), incarnation('b')];

describe('the journal', () => {
  let directory: string;
  let store: Store;

  const file = () => join(directory, 'node.db');
  const append = (number = 1) =>
    store.transact(({ append: add }) => {
      for (let index = 0; index < number; index += 1) {
        add({ kind: 'workspace-unregistered', workspaceId: WorkspaceId.parse('w') });
      }
    });
  const begin = (who: Incarnation) => store.transact((transaction) => store.begin(transaction, who));
  const reopen = (who: Incarnation) => {
    store.close();
    store = new Store(openDatabase(file()));
    begin(who);
  };
  const sequences = (events: readonly { sequence: number }[]) => events.map(({ sequence }) => sequence);
  const from = (first: number, last: number) =>
    Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'roost-journal-'));
    store = new Store(openDatabase(file()));
    begin(A);
  });
  afterEach(() => {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('is empty with floor 1 at first, and knows its range without asking the database', () => {
    const journal = new Journal(store);
    expect(journal.range()).toEqual({ floor: 1, last: 0 });
    expect(journal.continues({ after: 0 })).toBe(true);
    append(3);
    store.sql.exec('DROP TABLE incarnations');
    expect(journal.range()).toEqual({ floor: 1, last: 3 });
    expect(sequences(journal.read(0, 10))).toEqual([1, 2, 3]);
  });

  it('publishes after the commit, in order, without gaps, and nothing of what failed', () => {
    const journal = new Journal(store);
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
    expect(sequences(journal.read(0, 10))).toEqual([1, 2, 3]);
  });

  it('keeps the order for everybody when a listener itself changes something', () => {
    let more = true;
    const heard: number[] = [];
    store.onEvent(() => {
      if (!more) return;
      more = false;
      append(2);
    });
    store.onEvent(({ sequence }) => heard.push(sequence));
    append(3);
    expect(heard).toEqual([1, 2, 3, 4, 5]);
  });

  it('tells the same of an event from memory and from the database, as text and as value', () => {
    const remembering = new Journal(store);
    append(5);
    const forgetful = new Journal(store);
    const [live, stored] = [remembering.read(0, 10), forgetful.read(0, 10)];
    expect(stored.map(({ text }) => text)).toEqual(live.map(({ text }) => text));
    expect(stored.map((one) => one.event())).toEqual(live.map((one) => one.event()));
    for (const one of stored) expect(NodeEvent.parse(JSON.parse(one.text))).toEqual(one.event());
  });

  it('remembers which start of the node wrote which event', () => {
    append(3);
    reopen(B);
    append(2);
    const journal = new Journal(store);
    append();
    expect(journal.read(0, 10).map((one) => one.event().incarnation)).toEqual([A, A, A, B, B, B]);
  });

  it('continues a cursor unless it was forgotten, lies ahead, or is that of another history', () => {
    append(3);
    reopen(B);
    const journal = new Journal(store, 0);
    append(3);
    expect(from(0, 7).map((after) => journal.continues({ after }))).toEqual([
      ...Array.from({ length: 7 }, () => true),
      false,
    ]);
    expect(from(0, 6).map((after) => journal.continues({ after, incarnation: A }))).toEqual([
      true, // 0: no event, nobody wrote it
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(from(1, 6).map((after) => journal.continues({ after, incarnation: B }))).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
    append(1_996);
    while (journal.prune());
    expect(journal.range().floor).toBe(2_001);
    expect(journal.continues({ after: 1_999, incarnation: B })).toBe(false);
    expect(journal.continues({ after: 2_000, incarnation: B })).toBe(true);
    expect(journal.continues({ after: 2_000, incarnation: A })).toBe(false);
  });

  it('never gives a sequence out twice, also when every event is forgotten and the node starts anew', () => {
    const journal = new Journal(store, 0);
    append(2_000);
    while (journal.prune());
    expect(journal.range()).toEqual({ floor: 2_001, last: 2_000 });
    expect(journal.read(0, 10)).toEqual([]);
    reopen(B);
    const next = new Journal(store, 0);
    expect(next.range()).toEqual({ floor: 2_001, last: 2_000 });
    // The writer of the last one is still known: a reader who saw all of them has lost nothing.
    expect(next.continues({ after: 2_000, incarnation: A })).toBe(true);
    append();
    expect(sequences(next.read(2_000, 10))).toEqual([2_001]);
  });

  it('forgets the oldest beyond its bound, in batches, and with them the starts that wrote nothing else', () => {
    append(1_000);
    reopen(B);
    const journal = new Journal(store, 5_000);
    append(8_500);
    expect(journal.prune()).toBe(true);
    expect(journal.range().floor).toBe(2_001);
    while (journal.prune());
    expect(journal.range()).toEqual({ floor: 4_001, last: 9_500 });
    expect(store.sql.all('SELECT incarnation FROM incarnations')).toEqual([{ incarnation: B }]);
    append();
    expect(journal.range().last).toBe(9_501);
    expect(sequences(journal.read(0, 2))).toEqual([4_001, 4_002]);
  });

  describe('is followed', () => {
    const taken = (follower: EventFollower, max: number) => {
      const next = follower.take(max);
      return next.kind === 'events' ? sequences(next.events) : next;
    };

    it('from any place into live events, at any speed, with any memory: none twice, none missing, in order', () => {
      const Step = fc.oneof(
        fc.record({ kind: fc.constant('append' as const), number: fc.integer({ min: 1, max: 40 }) }),
        fc.record({
          kind: fc.constant('take' as const),
          reader: fc.nat(2),
          number: fc.integer({ min: 1, max: 30 }),
        }),
      );
      fc.assert(
        fc.property(fc.array(Step, { maxLength: 40 }), fc.integer({ min: 1, max: 60 }), (steps, memory) => {
          const journal = new Journal(store, 1_000_000, new RecentEvents(memory));
          const start = journal.range().last;
          const readers = [0, 1, 2].map(() => ({
            follower: new EventFollower(journal, start),
            seen: [] as number[],
          }));
          for (const step of steps) {
            if (step.kind === 'append') append(step.number);
            else {
              const reader = readers[step.reader];
              const events = reader === undefined ? [] : taken(reader.follower, step.number);
              if (Array.isArray(events)) reader?.seen.push(...events);
            }
          }
          for (const { follower, seen } of readers) {
            for (let events = taken(follower, 7); ; events = taken(follower, 7)) {
              if (!Array.isArray(events) || events.length === 0) break;
              seen.push(...events);
            }
            follower.close();
            expect(seen).toEqual(from(start + 1, journal.range().last));
          }
        }),
        { numRuns: 60 },
      );
    });

    it('with one call for each time that nothing was left, and none after its end', () => {
      const journal = new Journal(store);
      const follower = new EventFollower(journal, 0);
      let called = 0;
      follower.onReady(() => (called += 1));
      append(3);
      expect(called).toBe(0);
      expect(taken(follower, 2)).toEqual([1, 2]);
      append();
      expect(called).toBe(0);
      expect(taken(follower, 9)).toEqual([3, 4]);
      expect(taken(follower, 9)).toEqual([]);
      append(5);
      expect(called).toBe(1);
      append();
      expect(called).toBe(1);
      expect(taken(follower, 9)).toEqual([5, 6, 7, 8, 9, 10]);
      expect(taken(follower, 9)).toEqual([]);
      follower.close();
      append();
      expect(called).toBe(1);
    });

    it('until it forgets what a slow reader has not taken: that one hears so, and goes on with what is new', () => {
      const journal = new Journal(store, 1_000);
      const follower = new EventFollower(journal, 0);
      append(5);
      expect(taken(follower, 3)).toEqual([1, 2, 3]);
      append(3_000);
      while (journal.prune());
      expect(taken(follower, 3)).toEqual({ kind: 'resync', floor: 2_001, last: 3_005 });
      expect(taken(follower, 3)).toEqual([]);
      append();
      expect(taken(follower, 3)).toEqual([3_006]);
    });

    it('in pages that are bounded by their size', () => {
      const journal = new Journal(store);
      const name = 'x'.repeat(1_500_000);
      for (let index = 0; index < 6; index += 1) {
        store.transact(({ append: add }) => add({ kind: 'node-started', incarnation: A, version: name }));
      }
      expect(sequences(journal.read(0, 6))).toEqual([1, 2]);
      expect(sequences(new Journal(store).read(0, 6))).toEqual([1, 2]);
      expect(sequences(journal.read(4, 6))).toEqual([5, 6]);
    });
  });
});
