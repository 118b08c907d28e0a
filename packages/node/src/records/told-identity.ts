// An agent itself tells, by its hooks or its stream, which of its provider's own sessions it is. What cannot be taken over is left: nobody waits for
// an answer.
import {
  FailureError,
  OFFERED_CAPABILITIES,
  Projection,
  ProviderSession,
  type SessionId,
} from '@roost/protocol';
import type { Log } from '@roost/storage';
import type { Store } from '../store/store.ts';
import { reportIdentity } from './report-identity.ts';

/** The node itself sees everything. */
const EVERYTHING = { projection: new Projection(OFFERED_CAPABILITIES) };

export function takeToldIdentity(
  { store, log }: { readonly store: Store; readonly log: Log },
  sessionId: SessionId,
  providerSessionId: string,
): void {
  const { data: identity } = ProviderSession.safeParse({ key: 'session-id', id: providerSessionId });
  if (identity === undefined) return;
  try {
    reportIdentity(store, EVERYTHING, sessionId, identity);
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    log.info({ sessionId, code: error.failure.code }, 'the told identity of a session was not taken');
  }
}
