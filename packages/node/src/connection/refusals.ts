// Why connections are refused or ended, counted by reason, with one line in the log for each: nothing that a client did wrong is
// a riddle afterwards, and nothing of what it sent is told.
import type { Log } from '../log.ts';

export type RefusalReason =
  | 'handshake-timeout'
  | 'handshake-malformed'
  | 'frame-too-large'
  | 'protocol-mismatch'
  | 'unauthorized'
  | 'connections-exhausted'
  | 'preauth-overflow'
  | 'origin-refused'
  | 'host-refused'
  | 'not-websocket'
  | 'protocol-violation'
  | 'answers-unread'
  | 'write-deadline'
  | 'no-pong'
  | 'accept-error';

export class Refusals {
  readonly #counts = new Map<RefusalReason, number>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  count(reason: RefusalReason, facts: Readonly<Record<string, unknown>> = {}): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
    this.#log.info({ reason, ...facts }, 'connection refused');
  }

  get counts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}
