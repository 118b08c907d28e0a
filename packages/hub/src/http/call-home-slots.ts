// Places for nodes that call home and have not proved themselves: nobody is known when they come. A place is free again when the line is
// closed, or after the time in which a node has to have proved itself.
import { FailureError, HANDSHAKE_TIMEOUT_MS, type NodeId } from '@roost/protocol';

/** Of all nodes: a whole fleet comes back at once when a hub starts. Of one: each of its clients is a line of its own. */
const CALLS_MAX = 1_024;
export const CALLS_OF_NODE_MAX = 64;
/** Milliseconds for both frames of the proof. */
const PROOF_MS = 2 * HANDSHAKE_TIMEOUT_MS;

interface Call {
  readonly nodeId: NodeId;
  readonly at: number;
}

export class CallHomeSlots {
  readonly #monotonicNow: () => number;
  /** In the order in which they came. */
  readonly #calls = new Set<Call>();

  constructor(monotonicNow: () => number) {
    this.#monotonicNow = monotonicNow;
  }

  /** Answers how to give it back. @throws FailureError: connections-exhausted. */
  take(nodeId: NodeId): () => void {
    const now = this.#monotonicNow();
    let own = 0;
    for (const call of this.#calls) {
      if (call.at + PROOF_MS <= now) this.#calls.delete(call);
      else if (call.nodeId === nodeId) own += 1;
    }
    if (this.#calls.size >= CALLS_MAX || own >= CALLS_OF_NODE_MAX)
      throw new FailureError('connections-exhausted', { limit: CALLS_OF_NODE_MAX });
    const call = { nodeId, at: now };
    this.#calls.add(call);
    return () => void this.#calls.delete(call);
  }
}
