// The newest events in memory, for all readers together: those who keep up never ask the database. Bounded by number and by text.
import type { StoredEvent } from './stored-event.ts';

/** With its value beside its text, an event of a session takes some 3 KiB. */
const EVENTS_MAX = 4_096;
const CHARACTERS_MAX = 8 * 1024 * 1024;

export class RecentEvents {
  readonly #eventsMax: number;
  readonly #charactersMax: number;
  /** Without gaps; those before `#start` are gone, and cleared away when they are more than the others. */
  #events: StoredEvent[] = [];
  #start = 0;
  #characters = 0;

  constructor(eventsMax = EVENTS_MAX, charactersMax = CHARACTERS_MAX) {
    this.#eventsMax = eventsMax;
    this.#charactersMax = charactersMax;
  }

  /** Sequence of the oldest one; Infinity when there is none. */
  get first(): number {
    return this.#events[this.#start]?.sequence ?? Infinity;
  }

  push(event: StoredEvent): void {
    this.#events.push(event);
    this.#characters += event.text.length;
    while (
      this.#events.length - this.#start > this.#eventsMax ||
      (this.#characters > this.#charactersMax && this.#events.length - this.#start > 1)
    ) {
      this.#dropFirst();
    }
    this.#clear();
  }

  /** Those after a sequence that is not older than the one before `first`; at least one when there are some. */
  read(after: number, limit: number, charactersMax: number): readonly StoredEvent[] {
    const begin = this.#start + Math.max(0, after + 1 - this.first);
    let end = begin;
    let characters = 0;
    for (; end < this.#events.length && end - begin < limit; end += 1) {
      characters += this.#events[end]?.text.length ?? 0;
      if (characters > charactersMax && end > begin) break;
    }
    return this.#events.slice(begin, end);
  }

  /** Everything was forgotten up to here. */
  dropBefore(sequence: number): void {
    while (this.first < sequence) this.#dropFirst();
    this.#clear();
  }

  #dropFirst(): void {
    this.#characters -= this.#events[this.#start]?.text.length ?? 0;
    this.#start += 1;
  }

  #clear(): void {
    if (this.#start * 2 <= this.#events.length) return;
    this.#events = this.#events.slice(this.#start);
    this.#start = 0;
  }
}
