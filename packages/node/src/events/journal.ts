// Reads and bounds the durable event journal. Sequences have no gap above the floor, and none is given out twice, also when all
// events are forgotten; they are, oldest first and in batches, outside of anybody's request.
import * as z from 'zod';
import type { Incarnation } from '@roost/protocol';
import type { Store } from '../store/store.ts';
import type { EventRange, EventSource } from './follower.ts';
import { IncarnationRanges } from './incarnation-ranges.ts';
import { JournalPages, PAGE_EVENTS } from './journal-pages.ts';
import { RecentEvents } from './recent-events.ts';
import { committedEvent, journalEvent, type StoredEvent } from './stored-event.ts';

/** Events kept: some weeks of a busy machine, about 60 MB. */
const JOURNAL_EVENTS_MAX = 100_000;
/** Events forgotten at once; also how far the journal may exceed its bound. */
const PRUNE_BATCH = 2_000;
/** Characters of events in one page: well below the largest frame. */
const PAGE_CHARACTERS_MAX = 4 * 1024 * 1024;

const Row = z.object({ sequence: z.int(), at: z.int(), body: z.string() });
const Range = z.object({ floor: z.int().nullable(), last: z.int().nullable() });

/** Where a reader stopped: the last event that it saw, and who wrote that. */
export interface Cursor {
  readonly after: number;
  readonly incarnation?: Incarnation | undefined;
}

export class Journal implements EventSource {
  readonly #store: Store;
  readonly #maximum: number;
  readonly #recent: RecentEvents;
  readonly #pages = new JournalPages();
  readonly #incarnations: IncarnationRanges;
  readonly #listeners = new Set<() => void>();
  #onFollowed: () => void = () => undefined;
  #floor: number;
  #last: number;

  constructor(store: Store, maximum = JOURNAL_EVENTS_MAX, recent = new RecentEvents()) {
    this.#store = store;
    this.#maximum = maximum;
    this.#recent = recent;
    this.#incarnations = new IncarnationRanges(store.sql);
    const { floor, last } = Range.parse(
      store.sql.get(
        `SELECT (SELECT min(sequence) FROM events) AS floor,
          (SELECT seq FROM sqlite_sequence WHERE name = 'events') AS last`,
      ),
    );
    this.#last = last ?? 0;
    this.#floor = floor ?? this.#last + 1;
    store.onEvent((event, body) => {
      this.#last = event.sequence;
      this.#incarnations.note(event.incarnation, event.sequence);
      this.#recent.push(committedEvent(event, body));
      for (const listener of [...this.#listeners]) listener();
    });
  }

  range(): EventRange {
    return { floor: this.#floor, last: this.#last };
  }

  onAppended(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#onFollowed();
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#onFollowed();
    };
  }

  /** Whether anybody hears of events as they come. */
  get isFollowed(): boolean {
    return this.#listeners.size > 0;
  }

  /** Calls the one listener whenever that is different. */
  onFollowed(listener: () => void): void {
    this.#onFollowed = listener;
  }

  /**
   * Whether what follows a cursor is all there. It is not when it was forgotten, when the cursor lies ahead, or when another start
   * of the node wrote that event: then the database is not the one that the reader knew.
   */
  continues({ after, incarnation }: Cursor): boolean {
    if (after + 1 < this.#floor || after > this.#last) return false;
    if (incarnation === undefined || after === 0) return true;
    return this.#incarnations.writerOf(after) === incarnation;
  }

  read(after: number, limit: number): readonly StoredEvent[] {
    if (after >= this.#last) return [];
    if (after + 1 >= this.#recent.first) return this.#recent.read(after, limit, PAGE_CHARACTERS_MAX);
    const known = this.#pages.find(after, limit);
    if (known !== null) return known;
    const page = this.#readStored(after, Math.max(limit, PAGE_EVENTS));
    this.#pages.keep(page);
    return page.slice(0, limit);
  }

  /** Forgets the oldest events beyond the bound, at most one batch. Tells whether more is to be done. */
  prune(): boolean {
    const excess = this.#last - this.#floor + 1 - this.#maximum;
    if (excess < PRUNE_BATCH) return false;
    this.#forgetBefore(this.#floor + PRUNE_BATCH);
    return excess - PRUNE_BATCH >= PRUNE_BATCH;
  }

  #forgetBefore(floor: number): void {
    this.#store.transact(({ sql }) => {
      sql.run('DELETE FROM events WHERE sequence < ?', floor);
      // A cursor may stand just before the floor.
      sql.run(
        `DELETE FROM incarnations WHERE first_sequence <
          (SELECT max(first_sequence) FROM incarnations WHERE first_sequence < ?)`,
        floor,
      );
    });
    this.#floor = floor;
    this.#recent.dropBefore(floor);
    this.#pages.clear();
    this.#incarnations.forgetBefore(floor - 1);
  }

  #readStored(after: number, limit: number): readonly StoredEvent[] {
    const rows = this.#store.sql.all(
      'SELECT sequence, at, body FROM events WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?',
      after,
      this.#last,
      limit,
    );
    const events: StoredEvent[] = [];
    let characters = 0;
    for (const value of rows) {
      const { sequence, at, body } = Row.parse(value);
      const incarnation = this.#incarnations.writerOf(sequence);
      if (incarnation === null) throw new Error(`nobody wrote the event ${sequence}`);
      const event = journalEvent({ sequence, incarnation, at: new Date(at).toISOString() }, body);
      characters += event.text.length;
      if (characters > PAGE_CHARACTERS_MAX && events.length > 0) break;
      events.push(event);
    }
    return events;
  }
}
