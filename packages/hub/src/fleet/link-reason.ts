// What the end of a line, or an attempt at one, says of the link.
import { FailureError, type LinkReason } from '@roost/protocol';

export function reasonOf(error: unknown): LinkReason {
  if (!(error instanceof FailureError)) return 'connection-lost';
  switch (error.failure.code) {
    case 'node-not-running':
    case 'home-unusable':
      return 'unreachable';
    case 'node-unresponsive':
    case 'request-timed-out':
      return 'unresponsive';
    case 'unauthorized':
    case 'observer-read-only':
      return 'unauthorized';
    case 'unsupported-protocol':
    case 'unsupported-capability':
    case 'internal-error':
      return 'unsupported-protocol';
    case 'shutting-down':
    case 'connections-exhausted':
      return error.failure.code;
    default:
      return 'connection-lost';
  }
}

/** Trying again soon does not help. */
export function isRefusal(reason: LinkReason): boolean {
  return reason === 'unauthorized' || reason === 'unsupported-protocol' || reason === 'identity-changed';
}
