/**
 * A count of changes that can be waited for. A change costs a number when nobody waits; those who do are woken together, once
 * the turn of the event loop in which it changed is over.
 */
export class Revision {
  #current = 0;
  #closed = false;
  #scheduled = false;
  readonly #waiting: { readonly after: number; readonly wake: () => void }[] = [];

  get current(): number {
    return this.#current;
  }

  advance(): void {
    this.#current += 1;
    if (this.#waiting.length > 0) this.#wakeSoon();
  }

  /** Nothing changes any more: everybody is woken, and nobody waits again. */
  close(): void {
    this.#closed = true;
    this.#wakeSoon();
  }

  newerThan(after: number): Promise<void> {
    if (this.#closed || this.#current > after) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ after, wake: resolve }));
  }

  #wakeSoon(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      for (const waiting of this.#waiting.splice(0)) {
        if (this.#closed || this.#current > waiting.after) waiting.wake();
        else this.#waiting.push(waiting);
      }
    });
  }
}
