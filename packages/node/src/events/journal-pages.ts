// Pages of older events, for readers that catch up: a page is read once for all who pass it together, and each reader, however
// small its steps, asks the database once a page. Bounded by the number of pages and by their text.
import type { StoredEvent } from './stored-event.ts';

/** Pages kept: one for each of the connections that a node has by default. */
const PAGES_MAX = 16;
/** Events of a page, unless a reader wants more at once. */
export const PAGE_EVENTS = 128;
/** Characters above which a page is not kept. */
const KEPT_CHARACTERS_MAX = 512 * 1024;

export class JournalPages {
  /** The one used last is last. */
  #pages: (readonly StoredEvent[])[] = [];

  /** As many events after a sequence, from a page that holds them all; null when none does: fewer would look like the end. */
  find(after: number, limit: number): readonly StoredEvent[] | null {
    for (const [index, page] of this.#pages.entries()) {
      const [first] = page;
      const from = first === undefined ? -1 : after + 1 - first.sequence;
      if (from < 0 || from + limit > page.length) continue;
      this.#pages.splice(index, 1);
      this.#pages.push(page);
      return page.slice(from, from + limit);
    }
    return null;
  }

  keep(page: readonly StoredEvent[]): void {
    if (page.reduce((sum, { text }) => sum + text.length, 0) > KEPT_CHARACTERS_MAX) return;
    this.#pages.push(page);
    if (this.#pages.length > PAGES_MAX) this.#pages.shift();
  }

  clear(): void {
    this.#pages = [];
  }
}
