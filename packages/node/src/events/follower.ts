// One reader's place in the journal. The reader takes events at its own speed and nothing is kept for it: one that is slow
// reads again from the journal, one that is slower than the journal forgets is told so. Each event comes once, in order.
import type { StoredEvent } from './stored-event.ts';

export interface EventRange {
  /** Oldest sequence that can still be read; one more than `last` when none is kept. */
  readonly floor: number;
  /** The newest sequence that was ever given out; 0 before the first. */
  readonly last: number;
}

export interface EventSource {
  range(): EventRange;
  /** Up to `limit` events after a sequence; fewer when they are big, but never none when there are some. */
  read(after: number, limit: number): readonly StoredEvent[];
  /** Calls back after every commit of events; returns how to stop. */
  onAppended(listener: () => void): () => void;
}

export type Taken =
  | { readonly kind: 'events'; readonly events: readonly StoredEvent[] }
  /** What came next was forgotten before it was taken. The next events are those after `last`. */
  | ({ readonly kind: 'resync' } & EventRange);

export class EventFollower {
  readonly #source: EventSource;
  readonly #unsubscribe: () => void;
  #position: number;
  /** The last `take` found nothing: the reader waits to be called. */
  #waiting = false;
  #ready: () => void = () => undefined;

  constructor(source: EventSource, after: number) {
    this.#source = source;
    this.#position = after;
    this.#unsubscribe = source.onAppended(() => {
      if (!this.#waiting) return;
      this.#waiting = false;
      this.#ready();
    });
  }

  /** Called once after each `take` that found no events, as soon as there are some; it must not throw. */
  onReady(listener: () => void): void {
    this.#ready = listener;
  }

  /** The next events, none when all are taken. A journal that cannot be read throws. */
  take(max: number): Taken {
    const { floor, last } = this.#source.range();
    if (this.#position + 1 < floor) {
      this.#position = last;
      return { kind: 'resync', floor, last };
    }
    const events = this.#position < last ? this.#source.read(this.#position, max) : [];
    this.#position = events.at(-1)?.sequence ?? this.#position;
    this.#waiting = events.length === 0;
    return { kind: 'events', events };
  }

  close(): void {
    this.#unsubscribe();
    this.#waiting = false;
  }
}
