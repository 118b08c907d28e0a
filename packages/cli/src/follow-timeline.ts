/** The timeline of an agent that is spoken with, page by page, as it grows. */
import { WAIT_MS_MAX, type Session, type TimelineEntry } from '@roost/protocol';
import type { CommandContext } from './command-context.ts';

/** Milliseconds of one waiting read. */
const WAIT_MS = Math.min(30_000, WAIT_MS_MAX);
/** Milliseconds beyond the wait that an answer may take. */
const ANSWER_MS = 10_000;

interface FollowOptions {
  /** Position; below zero: that many last bytes. */
  readonly from: number;
  /** Goes on with what comes; otherwise it ends at what is there. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

/** Ends when the session has ended, nothing more is asked for, or the signal aborts. */
export async function* followTimeline(
  context: CommandContext,
  { id: sessionId }: Pick<Session, 'id'>,
  { from, follow, signal }: FollowOptions,
): AsyncGenerator<TimelineEntry> {
  const connection = await context.node();
  let position = from;
  let waitMs = 0;
  while (!signal.aborted) {
    const page = await connection.request(
      'session.readTimeline',
      { sessionId, from: position, waitMs },
      { timeoutMs: waitMs + ANSWER_MS },
    );
    yield* page.entries;
    position = page.next;
    if (page.ended || (page.entries.length === 0 && !follow)) return;
    waitMs = follow ? WAIT_MS : 0;
  }
}

/** Where the next entry will stand. */
export async function timelineEnd(
  context: CommandContext,
  { id: sessionId }: Pick<Session, 'id'>,
): Promise<number> {
  const connection = await context.node();
  return (await connection.request('session.readTimeline', { sessionId, from: -1 })).next;
}
