// One rule for every mutation: a synchronous transaction changes rows and appends the events that tell of it; the events are
// published after the commit, in order of sequence. No `await` fits inside; no event is published that is not stored.
import type { EventBody, Incarnation, NodeEvent } from '@roost/protocol';
import { foldLog, type Sql } from '@roost/storage';

export interface Transaction {
  readonly sql: Sql;
  readonly append: (body: EventBody) => void;
}

/** `body` is the text of the event's body as it is stored. */
export type EventListener = (event: NodeEvent, body: string) => void;

interface Committed {
  readonly event: NodeEvent;
  readonly body: string;
}

export class Store {
  readonly sql: Sql;
  readonly #now: () => number;
  readonly #listeners = new Set<EventListener>();
  /** Committed, and not told to every listener yet. */
  readonly #unpublished: Committed[] = [];
  #publishing = false;
  #open = false;
  #incarnation: Incarnation | null = null;

  constructor(sql: Sql, now: () => number = Date.now) {
    this.sql = sql;
    this.#now = now;
  }

  /** From now on, events are those of this start of the node. Part of the transaction that appends the first of them. */
  begin({ sql }: Transaction, incarnation: Incarnation): void {
    sql.run(
      `INSERT INTO incarnations (incarnation, first_sequence)
        VALUES (?, 1 + coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0))`,
      incarnation,
    );
    this.#incarnation = incarnation;
  }

  transact<T>(change: (transaction: Transaction) => T): T {
    if (this.#open) throw new Error('a transaction is open already');
    const events: Committed[] = [];
    this.#open = true;
    let result: T;
    try {
      this.sql.exec('BEGIN IMMEDIATE');
      try {
        result = change({
          sql: this.sql,
          append: (body) => events.push(this.#append(body)),
        });
        this.sql.exec('COMMIT');
      } catch (error) {
        this.#rollback();
        throw error;
      }
    } finally {
      this.#open = false;
    }
    this.#publish(events);
    return result;
  }

  /** Hears every event committed from now on; a listener must not throw. Returns how to stop. */
  onEvent(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Folds the log into the file, so that the file alone is a whole copy. */
  close(): void {
    foldLog(this.sql);
    this.sql.close();
  }

  /** A listener that changes something itself does not get ahead: its events follow when those before are told to all. */
  #publish(events: readonly Committed[]): void {
    this.#unpublished.push(...events);
    if (this.#publishing) return;
    this.#publishing = true;
    try {
      for (let next = this.#unpublished.shift(); next !== undefined; next = this.#unpublished.shift()) {
        for (const listener of [...this.#listeners]) listener(next.event, next.body);
      }
    } finally {
      this.#publishing = false;
    }
  }

  #append(body: EventBody): Committed {
    if (this.#incarnation === null) throw new Error('events need an incarnation');
    const at = this.#now();
    const text = JSON.stringify(body);
    const { lastId } = this.sql.run('INSERT INTO events (at, body) VALUES (?, ?)', at, text);
    const event = { sequence: lastId, incarnation: this.#incarnation, at: new Date(at).toISOString(), body };
    return { event, body: text };
  }

  #rollback(): void {
    try {
      this.sql.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself, as it does on a full disk.
    }
  }
}
