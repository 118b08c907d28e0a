import { FailureError } from '@roost/protocol';

/** Whether a request failed because no hub answered it: none runs, it is out of reach, or it is about to end. */
export function isHubAway(error: unknown): boolean {
  const code = error instanceof FailureError ? error.failure.code : null;
  return code === 'hub-not-running' || code === 'hub-unreachable' || code === 'shutting-down';
}
