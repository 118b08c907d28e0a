// A session that is rows of a database.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HistoryDatabase, HistoryPlace, HistorySummary, JsonObject } from '@roost/providers';
import * as z from 'zod';
import type { ForeignSql } from '../store/foreign-sql.ts';
import { NotBelow } from './below.ts';
import { Conversation, type Window } from './conversation.ts';
import { DatabaseRow, withDatabase } from './foreign-database.ts';
import type { FoundSession } from './found-session.ts';
import {
  identityOf,
  reading,
  type KeptSession,
  type NewestMessages,
  type SessionRead,
} from './kept-session.ts';

/** Messages in one page of rows, and parts that are read of one message. */
const PAGE_ROWS = 20;
const PARTS_MAX = 256;

const MessageRow = z.looseObject({ id: z.string(), time: z.int() });
const PartRow = z.record(z.string(), z.unknown());

export class KeptRow implements KeptSession {
  readonly #history: HistoryDatabase;
  readonly #found: FoundSession;
  readonly #place: HistoryPlace;

  constructor(history: HistoryDatabase, found: FoundSession, place: HistoryPlace) {
    this.#history = history;
    this.#found = found;
    this.#place = place;
  }

  summary(): Promise<HistorySummary> {
    return this.#open((_, row) => Promise.resolve(this.#summarise(row)));
  }

  newest(limit: number): Promise<NewestMessages> {
    return this.#open(async (sql) => {
      const conversation = new Conversation({ kind: 'last', limit });
      // Some messages say nothing.
      const wanted = 2 * limit;
      const rows = sql.all(this.#history.newestMessages, this.#sessionId, wanted);
      for (const row of rows.reverse()) {
        const message = MessageRow.safeParse(row).data;
        if (message !== undefined) this.#add(sql, conversation, message);
        await nextTurn();
      }
      return { conversation, isCut: rows.length === wanted };
    });
  }

  read(window: Window): Promise<SessionRead> {
    return this.#open(async (sql, row) => {
      const conversation = new Conversation(window);
      let skippedLines = 0;
      let after = { time: Number.MIN_SAFE_INTEGER, id: '' };
      for (;;) {
        const rows = sql.all(this.#history.messages, this.#sessionId, after.time, after.id, PAGE_ROWS);
        const messages = rows.flatMap((one) => MessageRow.safeParse(one).data ?? []);
        skippedLines += rows.length - messages.length;
        for (const message of messages) {
          this.#add(sql, conversation, message);
          await nextTurn();
        }
        const last = messages.at(-1);
        if (rows.length < PAGE_ROWS || last === undefined) break;
        after = last;
      }
      const usage = this.#history.usage(row);
      return { conversation, usage, skippedLines, identity: identityOf(this.#sessionId) };
    });
  }

  #add(sql: ForeignSql, conversation: Conversation, message: z.infer<typeof MessageRow>): void {
    const parts = sql
      .all(this.#history.parts, message.id, PARTS_MAX)
      .map((part) => PartRow.safeParse(part).data ?? {});
    const item = this.#history.read(message, parts);
    if (item !== null) conversation.add(item);
  }

  get #sessionId(): string {
    return this.#found.summary.sessionId;
  }

  #summarise(row: JsonObject): HistorySummary {
    const summary = this.#history.summarise(row);
    // It was put away since.
    if (summary === 'not-a-session') throw new NotBelow('missing');
    if (summary === null) throw new NotBelow('unreadable');
    return summary;
  }

  #open<Outcome>(work: (sql: ForeignSql, row: JsonObject) => Promise<Outcome>): Promise<Outcome> {
    return reading(this.#found, () =>
      withDatabase(this.#history, this.#place, async (sql) => {
        const row = DatabaseRow.safeParse(sql.all(this.#history.session, this.#sessionId)[0]).data;
        if (row === undefined) throw new NotBelow('missing');
        this.#summarise(row);
        return work(sql, row);
      }),
    );
  }
}
