// Waiting for a session's end: woken by the event that tells of it, never by looking again and again.
import type { Store } from '../store/store.ts';
import { findSession, isLive } from './session-table.ts';

/** Resolves when the session is not live, is removed, the time is over, or the signal aborts. */
export async function waitForEnd(
  store: Store,
  { sessionId, waitMs, signal }: { sessionId: string; waitMs: number; signal: AbortSignal },
): Promise<void> {
  const row = findSession(store.sql, sessionId);
  if (row === null || !isLive(row) || waitMs === 0 || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      unsubscribe();
      resolve();
    };
    const timer = setTimeout(done, waitMs);
    signal.addEventListener('abort', done);
    const unsubscribe = store.onEvent(({ body }) => {
      // Decided from the event alone: a listener must not throw, and a read could.
      const isOver =
        (body.kind === 'session-changed' && body.session.id === sessionId && !isLive(body.session)) ||
        (body.kind === 'session-removed' && body.sessionId === sessionId);
      if (isOver) done();
    });
  });
}
