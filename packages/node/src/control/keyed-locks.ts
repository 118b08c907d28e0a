// Locks by key, shared or exclusive. Fair: nobody overtakes an earlier waiter of the same key. Free of deadlock: the keys of
// one request are taken in one fixed order. A waiter holds what it has taken while it waits for the next key.
import type { Lock } from '@roost/protocol';

interface Waiter {
  readonly mode: Lock['mode'];
  readonly grant: () => void;
}

interface KeyState {
  holders: number;
  mode: Lock['mode'];
  readonly waiters: Waiter[];
}

export class KeyedLocks {
  readonly #keys = new Map<string, KeyState>();

  /** Takes all locks; answers how to give them back (once, all together). */
  async acquire(locks: readonly Lock[]): Promise<() => void> {
    const ordered = normalize(locks);
    const held: string[] = [];
    for (const lock of ordered) {
      await this.#take(lock);
      held.push(lock.key);
    }
    let released = false;
    return () => {
      if (released) return;
      released = true;
      for (const key of held.reverse()) this.#give(key);
    };
  }

  /** Keys that anybody holds: none when all is quiet. */
  get size(): number {
    return this.#keys.size;
  }

  #take(lock: Lock): Promise<void> {
    const state = this.#keys.get(lock.key);
    if (state === undefined) {
      this.#keys.set(lock.key, { holders: 1, mode: lock.mode, waiters: [] });
      return Promise.resolve();
    }
    if (state.waiters.length === 0 && state.mode === 'shared' && lock.mode === 'shared') {
      state.holders += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => state.waiters.push({ mode: lock.mode, grant: resolve }));
  }

  #give(key: string): void {
    const state = this.#keys.get(key);
    if (state === undefined) return;
    state.holders -= 1;
    if (state.holders > 0) return;
    const next = state.waiters.shift();
    if (next === undefined) {
      this.#keys.delete(key);
      return;
    }
    state.mode = next.mode;
    const granted = [next];
    while (next.mode === 'shared' && state.waiters[0]?.mode === 'shared') {
      const also = state.waiters.shift();
      if (also !== undefined) granted.push(also);
    }
    state.holders = granted.length;
    for (const waiter of granted) waiter.grant();
  }
}

/** One lock a key (the stronger mode), in key order. */
function normalize(locks: readonly Lock[]): Lock[] {
  const byKey = new Map<string, Lock>();
  for (const lock of locks) {
    if (byKey.get(lock.key)?.mode !== 'exclusive') byKey.set(lock.key, lock);
  }
  return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}
