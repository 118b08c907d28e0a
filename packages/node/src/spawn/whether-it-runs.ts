// What became of a session whose keeper was lost while it was asked to start it: told by the row, which the reconciliation with
// the keeper writes.
import { findSession, type SessionRow } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';

type SessionFacts = Pick<SessionRow, 'pid' | 'status'>;

interface Watch {
  /** Whether it came to run; it may have ended since. */
  readonly answer: Promise<boolean>;
  readonly stop: () => void;
}

export function whetherItRuns(store: Store, sessionId: string): Watch {
  let stop: () => void = () => undefined;
  const answer = new Promise<boolean>((resolve) => {
    const look = (session: SessionFacts | null) => {
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

/** null: nobody knows yet. A session whose process was seen has run; one that is gone or ended without one has not. */
export function cameToRun(row: SessionFacts | null): boolean | null {
  if (row === null) return false;
  if (row.pid !== null) return true;
  switch (row.status) {
    case 'starting':
    case 'stopping':
      return null;
    case 'running':
    case 'exited':
      return true;
    case 'failed':
    case 'lost':
      return false;
  }
}
