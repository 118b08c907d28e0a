// A session that a provider keeps, as the catalog holds it: with everything that never leaves the node.
import { createHash } from 'node:crypto';
import { HistoryId, type HistorySkipped } from '@roost/protocol';
import type { HistoryPlace, HistorySummary } from '@roost/providers';

export interface FoundSession {
  readonly id: HistoryId;
  readonly provider: string;
  readonly summary: HistorySummary;
  /** Whole milliseconds since 1970. */
  readonly modifiedAt: number;
  /** Where its file is; null: it is a row of the provider's database. */
  readonly place: HistoryPlace | null;
}

export interface Findings {
  readonly sessions: readonly FoundSession[];
  readonly skipped: HistorySkipped;
  /** Some were not looked at. */
  readonly incomplete: boolean;
}

export const NONE_SKIPPED: HistorySkipped = { links: 0, tooLarge: 0, unreadable: 0, unknownFormat: 0 };

/** Providers make their ids at random, so nobody finds one by trying. */
export function historyIdOf(provider: string, sessionId: string): HistoryId {
  const digest = createHash('sha256').update(`${provider}\0${sessionId}`).digest('hex');
  return HistoryId.parse(digest.slice(0, 16));
}

/** Newest first; of equally new ones in the order of their ids. */
export function byNewest(one: FoundSession, other: FoundSession): number {
  return other.modifiedAt - one.modifiedAt || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

/** Sorted, and each session once: of several copies the newest. */
export function sortedOnce(sessions: readonly FoundSession[]): FoundSession[] {
  const seen = new Set<string>();
  return [...sessions].sort(byNewest).filter(({ id }) => seen.size < seen.add(id).size);
}
