// Whether an agent's terminal takes a prompt now. Pure. Only a composer that is seen, empty, takes one: a dialog would take its Enter
// for an answer, and what a person has begun to type would be sent with it.
import { failure, type Activity, type Failure, type SessionId } from '@roost/protocol';
import { readComposer, readScreen, type ReadableProvider } from '@roost/providers';

/** What is known without a look; null: nothing stands against a prompt. */
export function refusedByActivity(sessionId: SessionId, activity: Activity | null): Failure | null {
  switch (activity?.state) {
    case 'ready':
    case 'idle':
    case 'done':
      return null;
    case 'working':
      return failure('turn-in-flight', { sessionId });
    case 'blocked':
      // A turn that failed, or came to a limit, is over.
      return activity.reason === 'error' || activity.reason === 'quota'
        ? null
        : failure('agent-not-ready', { sessionId, reason: activity.reason ?? 'other' });
    case 'starting':
    case 'unknown':
    case undefined:
      return failure('agent-not-ready', { sessionId, reason: 'starting' });
  }
}

/** The same from its screen; nothing of what stands there is told. */
export function refusedByScreen(
  sessionId: SessionId,
  { screen, composer }: ReadableProvider,
  view: { readonly lines: readonly string[]; readonly title: string | null },
): Failure | null {
  const verdict = readScreen(screen, view);
  switch (verdict?.state) {
    case 'working':
      return failure('turn-in-flight', { sessionId });
    case 'blocked':
      return failure('agent-not-ready', { sessionId, reason: verdict.reason ?? 'other' });
    case 'composer': {
      const typed = readComposer(composer, view);
      if (typed === null) break;
      return typed === '' ? null : failure('composer-occupied', { sessionId });
    }
    case undefined:
      break;
  }
  return failure('agent-not-ready', { sessionId, reason: 'unknown' });
}
