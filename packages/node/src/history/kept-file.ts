// A session that is a file of its own.
import { FailureError } from '@roost/protocol';
import type { HistoryFiles, HistoryPlace, HistorySummary } from '@roost/providers';
import { NotBelow, OpenFile } from './below.ts';
import { Conversation, type Window } from './conversation.ts';
import type { FoundSession } from './found-session.ts';
import {
  identityOf,
  reading,
  type KeptSession,
  type NewestMessages,
  type SessionRead,
} from './kept-session.ts';
import { readLines } from './read-lines.ts';
import { readSummary } from './session-head.ts';

/** Bytes at the end in which the newest messages are looked for. */
const NEWEST_BYTES = 512 * 1024;
/** Bytes of a session that is read as a whole: some seconds of work. */
const READ_BYTES_MAX = 256 * 1024 * 1024;

export class KeptFile implements KeptSession {
  readonly #history: HistoryFiles;
  readonly #found: FoundSession;
  readonly #place: HistoryPlace;
  readonly #companion: string | null;

  constructor(history: HistoryFiles, found: FoundSession, place: HistoryPlace, companion: string | null) {
    this.#history = history;
    this.#found = found;
    this.#place = place;
    this.#companion = companion;
  }

  summary(): Promise<HistorySummary> {
    return this.#open((_, summary) => Promise.resolve(summary));
  }

  newest(limit: number): Promise<NewestMessages> {
    return this.#open(async (file) => {
      const from = Math.max(0, file.state.size - NEWEST_BYTES);
      const { conversation } = await this.#readFrom(file, from, { kind: 'last', limit });
      return { conversation, isCut: from > 0 };
    });
  }

  read(window: Window): Promise<SessionRead> {
    return this.#open(async (file) => {
      const { size, device, node } = file.state;
      if (size > READ_BYTES_MAX) {
        throw new FailureError('history-too-large', {
          historyId: this.#found.id,
          limitBytes: READ_BYTES_MAX,
        });
      }
      return { ...(await this.#readFrom(file, 0, window)), identity: identityOf(device, node) };
    });
  }

  async #readFrom(
    file: OpenFile,
    from: number,
    window: Window,
  ): Promise<Pick<SessionRead, 'conversation' | 'usage' | 'skippedLines'>> {
    const conversation = new Conversation(window);
    const reader = this.#history.reader();
    const { skipped } = await readLines(file, from, (line) => {
      for (const item of reader.read(line)) conversation.add(item);
    });
    return { conversation, usage: reader.usage(), skippedLines: skipped };
  }

  #open<Outcome>(work: (file: OpenFile, summary: HistorySummary) => Promise<Outcome>): Promise<Outcome> {
    return reading(this.#found, async () => {
      await using file = await OpenFile.below(this.#place);
      const path = this.#place.below.slice(-this.#history.levels.length);
      const summary = await readSummary(this.#history, file, path, this.#companion);
      // Another one is in its place, or half of it is gone.
      if (typeof summary === 'string' || summary.sessionId !== this.#found.summary.sessionId) {
        throw new NotBelow('unreadable');
      }
      return await work(file, summary);
    });
  }
}
