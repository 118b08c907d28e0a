// Reads and bounds the durable event journal. Sequences have no gap above the floor; below it, events are forgotten in
// batches, outside of anybody's request.
import * as z from 'zod';
import { EventBody, type NodeEvent } from '@roost/protocol';
import type { Store } from '../store/store.ts';

/** Events kept: some weeks of a busy machine, about 60 MB. */
const JOURNAL_EVENTS_MAX = 100_000;
/** Events forgotten at once; also how far the journal may exceed its bound. */
const PRUNE_BATCH = 2_000;
/** Characters of bodies in one page: well below the largest frame. */
const PAGE_CHARACTERS_MAX = 4 * 1024 * 1024;

const Row = z.object({ sequence: z.int(), at: z.int(), body: z.string() });
const Range = z.object({ floor: z.int().nullable(), last: z.int().nullable() });

export class Journal {
  readonly #store: Store;
  readonly #maximum: number;

  constructor(store: Store, maximum = JOURNAL_EVENTS_MAX) {
    this.#store = store;
    this.#maximum = maximum;
  }

  /** Oldest and newest sequence; zeros when empty. */
  range(): { floor: number; last: number } {
    const { floor, last } = Range.parse(
      this.#store.sql.get(
        'SELECT (SELECT min(sequence) FROM events) AS floor, (SELECT max(sequence) FROM events) AS last',
      ),
    );
    return { floor: floor ?? 0, last: last ?? 0 };
  }

  /** Up to `limit` events after a sequence; fewer when they are big, but never none when there are some. */
  read(after: number, limit: number): NodeEvent[] {
    const rows = this.#store.sql.all(
      'SELECT sequence, at, body FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?',
      after,
      limit,
    );
    const events: NodeEvent[] = [];
    let characters = 0;
    for (const value of rows) {
      const row = Row.parse(value);
      characters += row.body.length;
      if (characters > PAGE_CHARACTERS_MAX && events.length > 0) break;
      events.push({
        sequence: row.sequence,
        at: new Date(row.at).toISOString(),
        body: EventBody.parse(JSON.parse(row.body)),
      });
    }
    return events;
  }

  /** Forgets the oldest events beyond the bound, at most one batch. Tells whether more is to be done. */
  prune(): boolean {
    const { floor, last } = this.range();
    const excess = last - floor + 1 - this.#maximum;
    if (excess < PRUNE_BATCH) return false;
    this.#store.transact(({ sql }) => sql.run('DELETE FROM events WHERE sequence < ?', floor + PRUNE_BATCH));
    return excess - PRUNE_BATCH >= PRUNE_BATCH;
  }
}
