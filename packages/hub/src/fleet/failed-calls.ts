// Calls in the name of a node that came to nothing: anybody can make some. They are counted, and told in the log now and then.
import { FailureError, type FailureCode, type NodeId } from '@roost/protocol';
import { faultOf } from './fault.ts';

/** Milliseconds between two lines in the log about one node. */
const TOLD_MS = 60_000;

export class FailedCalls {
  readonly #now: () => number;
  readonly #log: (message: string, facts: Readonly<Record<string, unknown>>) => void;
  /** Of enrolled nodes only, which bounds it: when it was told last, and how many came since. */
  readonly #told = new Map<NodeId, { readonly at: number; since: number }>();
  readonly #counts = new Map<FailureCode, number>();

  /** `now`: milliseconds since the epoch. */
  constructor(now: () => number, log: (message: string, facts: Readonly<Record<string, unknown>>) => void) {
    this.#now = now;
    this.#log = log;
  }

  /** Since the hub began, by how they failed: `unauthorized` did not prove it, `connection-lost` did not stay for the proof. */
  get counts(): ReadonlyMap<FailureCode, number> {
    return this.#counts;
  }

  failed(nodeId: NodeId, error: unknown): void {
    const code = error instanceof FailureError ? error.failure.code : 'internal-error';
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
    const told = this.#told.get(nodeId);
    const now = this.#now();
    if (told !== undefined && now - told.at < TOLD_MS) {
      told.since += 1;
      return;
    }
    this.#told.set(nodeId, { at: now, since: 0 });
    this.#log('a call of a node came to nothing', { nodeId, untold: told?.since ?? 0, ...faultOf(error) });
  }

  /** It is enrolled no more. */
  forget(nodeId: NodeId): void {
    this.#told.delete(nodeId);
  }
}
