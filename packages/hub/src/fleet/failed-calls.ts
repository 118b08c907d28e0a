// Calls in the name of a node that did not prove to be of it: anybody can make some. They are counted, and told in the log now and then.
import type { NodeId } from '@roost/protocol';
import { faultOf } from './fault.ts';

/** Milliseconds between two lines in the log about one node. */
const TOLD_MS = 60_000;

export class FailedCalls {
  readonly #now: () => number;
  readonly #log: (message: string, facts: Readonly<Record<string, unknown>>) => void;
  /** Of enrolled nodes only, which bounds it: when it was told last, and how many came since. */
  readonly #told = new Map<NodeId, { readonly at: number; since: number }>();
  #count = 0;

  /** `now`: milliseconds since the epoch. */
  constructor(now: () => number, log: (message: string, facts: Readonly<Record<string, unknown>>) => void) {
    this.#now = now;
    this.#log = log;
  }

  /** Since the hub began. */
  get count(): number {
    return this.#count;
  }

  failed(nodeId: NodeId, error: unknown): void {
    this.#count += 1;
    const told = this.#told.get(nodeId);
    const now = this.#now();
    if (told !== undefined && now - told.at < TOLD_MS) {
      told.since += 1;
      return;
    }
    this.#told.set(nodeId, { at: now, since: 0 });
    this.#log('a call of a node was not proved', { nodeId, untold: told?.since ?? 0, ...faultOf(error) });
  }
}
