// Finds the sessions of a provider that keeps them in a database. The library asks the disk itself and answers at once, so rows are
// asked for in small pages, between which the event loop turns.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ProviderSession } from '@roost/protocol';
import type { HistoryDatabase, HistoryPlace } from '@roost/providers';
import type { ForeignSql } from '../store/foreign-sql.ts';
import { NotBelow } from './below.ts';
import {
  DatabaseRow,
  filesOf,
  isSameFiles,
  OtherFormat,
  withDatabase,
  type DatabaseFiles,
} from './foreign-database.ts';
import { historyIdOf, NONE_SKIPPED, sortedOnce, type Findings, type FoundSession } from './found-session.ts';
import { KeptRow } from './kept-row.ts';
import type { KeptSession } from './kept-session.ts';
import { SCAN_ENTRIES_MAX } from './scan-files.ts';

/** Rows in one page: a few milliseconds. */
const PAGE_ROWS = 200;

/** Of one provider. Scans of it must not overlap. */
export class DatabaseScanner {
  readonly #provider: string;
  readonly #history: HistoryDatabase;
  readonly #place: HistoryPlace;
  #known: { readonly files: DatabaseFiles; readonly findings: Findings } | null = null;

  constructor(provider: string, history: HistoryDatabase, place: HistoryPlace) {
    this.#provider = provider;
    this.#history = history;
    this.#place = place;
  }

  /** Never throws: what cannot be read is skipped. */
  async scan(isOver: () => boolean): Promise<Findings> {
    try {
      const files = await filesOf(this.#place);
      if (this.#known !== null && isSameFiles(this.#known.files, files)) return this.#known.findings;
      const findings = await withDatabase(this.#history, this.#place, (sql) => this.#read(sql, isOver));
      if (!findings.incomplete) this.#known = { files, findings };
      return findings;
    } catch (error) {
      return { sessions: [], skipped: skippedFor(error), incomplete: false };
    }
  }

  async #read(sql: ForeignSql, isOver: () => boolean): Promise<Findings> {
    const sessions: FoundSession[] = [];
    const skipped = { ...NONE_SKIPPED };
    let after = '';
    for (let seen = 0; ;) {
      const rows = sql.all(this.#history.sessions, after, PAGE_ROWS);
      for (const row of rows) {
        const session = this.#sessionOf(row);
        if (session === null) skipped.unknownFormat += 1;
        else if (session !== 'not-a-session') sessions.push(session);
      }
      seen += rows.length;
      const last = DatabaseRow.safeParse(rows.at(-1));
      const isDone = rows.length < PAGE_ROWS || !last.success || last.data.id <= after;
      const incomplete = !isDone && (seen >= SCAN_ENTRIES_MAX || isOver());
      if (isDone || incomplete) return { sessions: sortedOnce(sessions), skipped, incomplete };
      after = last.data.id;
      await nextTurn();
    }
  }

  keep(session: FoundSession): KeptSession {
    return new KeptRow(this.#history, session, this.#place);
  }

  #sessionOf(row: unknown): FoundSession | 'not-a-session' | null {
    const parsed = DatabaseRow.safeParse(row);
    const summary = parsed.success ? this.#history.summarise(parsed.data) : null;
    if (summary === null || summary === 'not-a-session') return summary;
    if (!ProviderSession.shape.id.safeParse(summary.sessionId).success) return null;
    const { modifiedAt } = summary;
    const id = historyIdOf(this.#provider, summary.sessionId);
    return { id, provider: this.#provider, summary, modifiedAt, place: null };
  }
}

function skippedFor(error: unknown): Findings['skipped'] {
  if (error instanceof OtherFormat) return { ...NONE_SKIPPED, unknownFormat: 1 };
  const fault = error instanceof NotBelow ? error.fault : 'unreadable';
  if (fault === 'missing') return NONE_SKIPPED;
  return fault === 'link' ? { ...NONE_SKIPPED, links: 1 } : { ...NONE_SKIPPED, unreadable: 1 };
}
