// Requests that came in parts. The memory of all connections' unfinished and running long requests is bounded together: one
// client may send a long one, many cannot send many at once, and none can hold room for one that it never ends.
import { LONG_REQUESTS_BYTES_MAX, REQUEST_BYTES_MAX, type RequestPart } from '@roost/protocol';

/** Requests that one connection may have unfinished. */
const UNFINISHED_MAX = 4;
/** Milliseconds until the next part of an unfinished request has to be there. */
const PART_DEADLINE_MS = 20_000;

/** Shared by all connections. */
export class LongRequestBudget {
  #held = 0;

  take(bytes: number): boolean {
    if (this.#held + bytes > LONG_REQUESTS_BYTES_MAX) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }

  get held(): number {
    return this.#held;
  }
}

interface Unfinished {
  readonly texts: string[];
  bytes: number;
  heardAt: number;
  /** No room for it: what follows of it is thrown away, and its end is answered with a refusal. */
  refused: boolean;
}

export type PartOutcome =
  | { readonly kind: 'more' }
  /** `bytes` stay taken from the budget until the request has settled. */
  | { readonly kind: 'whole'; readonly text: string; readonly bytes: number }
  | { readonly kind: 'refused' }
  /** More unfinished ones than anybody needs. */
  | { readonly kind: 'too-many' };

export class LongRequests {
  readonly #budget: LongRequestBudget;
  readonly #monotonicNow: () => number;
  readonly #unfinished = new Map<number, Unfinished>();
  /** Bytes of all that are unfinished: one connection gets the room of one request. */
  #bytes = 0;

  constructor(budget: LongRequestBudget, monotonicNow: () => number) {
    this.#budget = budget;
    this.#monotonicNow = monotonicNow;
  }

  /** Whether one of them was begun and then left. */
  get hasStalled(): boolean {
    const now = this.#monotonicNow();
    return [...this.#unfinished.values()].some(({ heardAt }) => now - heardAt >= PART_DEADLINE_MS);
  }

  has(id: number): boolean {
    return this.#unfinished.has(id);
  }

  take({ id, text, last }: RequestPart): PartOutcome {
    const known = this.#unfinished.get(id);
    if (known === undefined && this.#unfinished.size >= UNFINISHED_MAX) return { kind: 'too-many' };
    const request = known ?? { texts: [], bytes: 0, heardAt: 0, refused: false };
    request.heardAt = this.#monotonicNow();
    this.#unfinished.set(id, request);
    this.#add(request, text);
    if (!last) return { kind: 'more' };
    this.#unfinished.delete(id);
    this.#bytes -= request.bytes;
    if (request.refused) return { kind: 'refused' };
    return { kind: 'whole', text: request.texts.join(''), bytes: request.bytes };
  }

  /** The connection is gone. */
  close(): void {
    this.#budget.give(this.#bytes);
    this.#bytes = 0;
    this.#unfinished.clear();
  }

  #add(request: Unfinished, text: string): void {
    if (request.refused) return;
    const bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes <= REQUEST_BYTES_MAX && this.#budget.take(bytes)) {
      request.bytes += bytes;
      this.#bytes += bytes;
      request.texts.push(text);
      return;
    }
    request.refused = true;
    this.#budget.give(request.bytes);
    this.#bytes -= request.bytes;
    request.bytes = 0;
    request.texts.length = 0;
  }
}
