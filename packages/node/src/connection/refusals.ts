// Why connections are refused or ended, counted by reason, with one line in the log for each: nothing that a client did wrong is
// a riddle afterwards, and nothing of what it sent is told. Whoever provokes refusals by the thousand does not fill the disk.
import type { Log } from '@roost/storage';

export type RefusalReason =
  | 'handshake-timeout'
  | 'handshake-malformed'
  | 'frame-too-large'
  | 'protocol-mismatch'
  | 'unauthorized'
  | 'connections-exhausted'
  | 'preauth-overflow'
  | 'preauth-evicted'
  | 'origin-refused'
  | 'host-refused'
  | 'not-websocket'
  | 'protocol-violation'
  | 'long-request-stalled'
  | 'answers-unread'
  | 'write-deadline'
  | 'no-pong'
  | 'accept-error';

/** What may be said beside the reason: whose connection, which rule. */
export interface RefusalFacts {
  readonly connectionId?: number | undefined;
  readonly detail?: string;
  readonly code?: string | undefined;
}

/** Lines of one reason in one period; the first of the next period tells how many were left out. */
const LINES_MAX = 30;
const PERIOD_MS = 60_000;

interface Tally {
  count: number;
  periodBegan: number;
  lines: number;
  leftOut: number;
}

export class Refusals {
  readonly #tallies = new Map<RefusalReason, Tally>();
  readonly #log: Pick<Log, 'warn'>;
  readonly #monotonicNow: () => number;

  constructor(log: Pick<Log, 'warn'>, monotonicNow: () => number) {
    this.#log = log;
    this.#monotonicNow = monotonicNow;
  }

  count(reason: RefusalReason, facts: RefusalFacts = {}): void {
    const tally = this.#tally(reason);
    tally.count += 1;
    if (tally.lines >= LINES_MAX) {
      tally.leftOut += 1;
      return;
    }
    tally.lines += 1;
    const leftOut = tally.leftOut === 0 ? {} : { leftOut: tally.leftOut };
    tally.leftOut = 0;
    this.#log.warn({ reason, ...facts, ...leftOut }, 'connection refused');
  }

  get counts(): Record<string, number> {
    return Object.fromEntries([...this.#tallies].map(([reason, { count }]) => [reason, count]));
  }

  #tally(reason: RefusalReason): Tally {
    const now = this.#monotonicNow();
    const known = this.#tallies.get(reason);
    if (known === undefined) {
      const fresh = { count: 0, periodBegan: now, lines: 0, leftOut: 0 };
      this.#tallies.set(reason, fresh);
      return fresh;
    }
    if (now - known.periodBegan >= PERIOD_MS) Object.assign(known, { periodBegan: now, lines: 0 });
    return known;
  }
}
