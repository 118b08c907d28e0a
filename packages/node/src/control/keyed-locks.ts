// Locks by key. Fair: nobody overtakes an earlier waiter of the same key. Free of deadlock: the keys of one request are taken in
// one fixed order. A waiter holds what it has taken while it waits for the next key.
import type { Lock } from '@roost/protocol';

export class KeyedLocks {
  /** Who waits for each key that somebody holds. */
  readonly #waiters = new Map<string, (() => void)[]>();

  /** Takes all locks; answers how to give them back (once, all together). */
  async acquire(locks: readonly Lock[]): Promise<() => void> {
    const keys = [...new Set(locks.map(({ key }) => key))].sort();
    for (const key of keys) await this.#take(key);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      for (const key of keys.reverse()) this.#give(key);
    };
  }

  /** Keys that anybody holds: none when all is quiet. */
  get size(): number {
    return this.#waiters.size;
  }

  #take(key: string): Promise<void> {
    const waiters = this.#waiters.get(key);
    if (waiters !== undefined) return new Promise((resolve) => waiters.push(resolve));
    this.#waiters.set(key, []);
    return Promise.resolve();
  }

  /** To the first who waits, else to nobody. */
  #give(key: string): void {
    const next = this.#waiters.get(key)?.shift();
    if (next === undefined) this.#waiters.delete(key);
    else next();
  }
}
