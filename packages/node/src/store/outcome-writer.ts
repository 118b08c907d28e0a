// Outcomes of effects (it runs, it ended, it is lost) are facts: when the disk refuses them they are tried again until they are
// stored, for they cannot be refused to anybody.
import type { Log } from '../log.ts';
import type { Store, Transaction } from './store.ts';

const RETRY_MS = 1_000;

export class OutcomeWriter {
  readonly #store: Store;
  readonly #log: Log;
  readonly #pending: ((transaction: Transaction) => void)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** `change` looks at the row again each time: it may run much later. Order is kept. */
  write(change: (transaction: Transaction) => void): void {
    this.#pending.push(change);
    if (this.#timer === null) this.#flush();
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #flush(): void {
    this.#timer = null;
    for (let change = this.#pending[0]; change !== undefined && !this.#closed; change = this.#pending[0]) {
      try {
        this.#store.transact(change);
        this.#pending.shift();
      } catch (error) {
        this.#log.error(
          { err: error, waiting: this.#pending.length },
          'an outcome cannot be stored; trying again',
        );
        this.#timer = setTimeout(() => this.#flush(), RETRY_MS);
        this.#timer.unref();
        return;
      }
    }
  }
}
