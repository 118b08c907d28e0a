// One session as its provider keeps it now, as against what the catalog found.
import { createHash } from 'node:crypto';
import { FailureError, type HistoryUsage } from '@roost/protocol';
import type { HistorySummary } from '@roost/providers';
import { NotBelow } from './below.ts';
import type { Conversation, Window } from './conversation.ts';
import type { FoundSession } from './found-session.ts';

/** Everything is held against what was found first. @throws FailureError: unknown-history-session, history-unreadable. */
export interface KeptSession {
  summary(): Promise<HistorySummary>;
  /** The newest messages; of them, as many as that. */
  newest(limit: number): Promise<NewestMessages>;
  /** @throws FailureError: history-too-large as well. */
  read(window: Window): Promise<SessionRead>;
}

export interface NewestMessages {
  readonly conversation: Conversation;
  /** There may be earlier ones that were not looked at. */
  readonly isCut: boolean;
}

export interface SessionRead {
  readonly conversation: Conversation;
  readonly usage: HistoryUsage | null;
  readonly skippedLines: number;
  /** 16 hexadecimal digits: others when the session was written anew, the same when something was added. */
  readonly identity: string;
}

/** What stands against reading it as what the caller is told. */
export async function reading<Outcome>(
  { id: historyId }: FoundSession,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NotBelow)) throw error;
    const code = error.fault === 'missing' ? 'unknown-history-session' : 'history-unreadable';
    throw new FailureError(code, { historyId }, { cause: error });
  }
}

export function identityOf(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 16);
}
