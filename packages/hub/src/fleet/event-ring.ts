// The last events of this start of the hub, for clients that come back.
import type { HubEvent } from '@roost/protocol';
import type { FleetCursor } from './fleet.ts';

/** Events that are held: minutes of a busy fleet. */
const HELD_MAX = 20_000;

type NewEvent = Omit<HubEvent, 'id' | 'run'>;

export class EventRing {
  readonly run: string;
  readonly #listeners = new Set<(event: HubEvent) => void>();
  #held: HubEvent[] = [];
  #last = 0;

  constructor(run: string) {
    this.run = run;
  }

  get cursor(): FleetCursor {
    return { run: this.run, id: this.#last };
  }

  publish(event: NewEvent): void {
    const whole: HubEvent = { id: ++this.#last, run: this.run, ...event };
    this.#held.push(whole);
    // Cut rarely: each time it costs a copy.
    if (this.#held.length >= HELD_MAX * 2) this.#held = this.#held.slice(-HELD_MAX);
    for (const listener of [...this.#listeners]) listener(whole);
  }

  /** null: some of them are not held any more, or the cursor is of another start. */
  after({ run, id }: FleetCursor): readonly HubEvent[] | null {
    if (run !== this.run || id > this.#last) return null;
    const first = this.#held[0]?.id ?? this.#last + 1;
    return id + 1 < first ? null : this.#held.slice(id + 1 - first);
  }

  listen(listener: (event: HubEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
