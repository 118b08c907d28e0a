// When the next attempt at a node is made, and what the last one says of it.
import { FailureError, type LinkReason } from '@roost/protocol';

/** Milliseconds: of the first pause, of the longest, and after a refusal, which somebody has to mend. */
const FIRST_MS = 500;
const CEILING_MS = 30_000;
const REFUSED_MS = 30_000;
/** Milliseconds that a link must have lasted for its end not to count as a failure. */
export const REAL_UPTIME_MS = 10_000;

/** `failures`: in a row, at least 1. `random`: 0 to below 1. */
export function reconnectDelay(failures: number, isRefused: boolean, random: number): number {
  const whole = isRefused ? REFUSED_MS : Math.min(CEILING_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16));
  return Math.round(whole * (0.5 + random / 2));
}

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
