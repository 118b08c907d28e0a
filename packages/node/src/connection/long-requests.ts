// Requests that came in parts. The memory of all connections' unfinished and running long requests is bounded together: one
// client may send a long one, many cannot send many at once.
import { LONG_REQUESTS_BYTES_MAX, REQUEST_BYTES_MAX, type RequestPart } from '@roost/protocol';

/** Requests that one connection may have unfinished. */
const UNFINISHED_MAX = 4;

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
  readonly #unfinished = new Map<number, Unfinished>();

  constructor(budget: LongRequestBudget) {
    this.#budget = budget;
  }

  has(id: number): boolean {
    return this.#unfinished.has(id);
  }

  take({ id, text, last }: RequestPart): PartOutcome {
    const known = this.#unfinished.get(id);
    if (known === undefined && this.#unfinished.size >= UNFINISHED_MAX) return { kind: 'too-many' };
    const request = known ?? { texts: [], bytes: 0, refused: false };
    this.#unfinished.set(id, request);
    this.#add(request, text);
    if (!last) return { kind: 'more' };
    this.#unfinished.delete(id);
    if (request.refused) return { kind: 'refused' };
    return { kind: 'whole', text: request.texts.join(''), bytes: request.bytes };
  }

  /** The connection is gone. */
  close(): void {
    for (const request of this.#unfinished.values()) this.#budget.give(request.bytes);
    this.#unfinished.clear();
  }

  #add(request: Unfinished, text: string): void {
    if (request.refused) return;
    const bytes = Buffer.byteLength(text);
    if (request.bytes + bytes <= REQUEST_BYTES_MAX && this.#budget.take(bytes)) {
      request.bytes += bytes;
      request.texts.push(text);
      return;
    }
    request.refused = true;
    this.#budget.give(request.bytes);
    request.bytes = 0;
    request.texts.length = 0;
  }
}
