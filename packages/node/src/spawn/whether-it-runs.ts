// What became of a session whose keeper was lost while it was asked to start it: told by the row, which the reconciliation with
// the keeper writes.
import { cameToRun, type RunFacts } from '../sessions/came-to-run.ts';
import { findSession } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';

interface Watch {
  /** Whether it came to run; it may have ended since. */
  readonly answer: Promise<boolean>;
  readonly stop: () => void;
}

export function whetherItRuns(store: Store, sessionId: string): Watch {
  let stop: () => void = () => undefined;
  const answer = new Promise<boolean>((resolve) => {
    const look = (session: RunFacts | null) => {
      const runs = cameToRun(session);
      if (runs === null) return;
      stop();
      resolve(runs);
    };
    stop = store.onEvent(({ body }) => {
      // From the event alone: a listener must not throw, and a read could.
      if (body.kind === 'session-changed' && body.session.id === sessionId) look(body.session);
      else if (body.kind === 'session-removed' && body.sessionId === sessionId) look(null);
    });
    look(findSession(store.sql, sessionId));
  });
  return { answer, stop: () => stop() };
}
