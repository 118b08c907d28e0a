// Outcomes of effects (it runs, it ended, it is lost) are facts: when the disk refuses them they are tried again until they are
// stored, for they cannot be refused to anybody. What fails for any other reason would fail again: it is logged and left, and those
// behind it go on. What waits is bounded by what produces it: a few facts for each session that lives, one for each lease.
import { FailureError } from '@roost/protocol';
import type { Log } from '@roost/storage';
import type { Store, Transaction } from './store.ts';

const RETRY_MS = 1_000;

export class OutcomeWriter {
  readonly #store: Store;
  readonly #log: Log;
  readonly #pending: ((transaction: Transaction) => void)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #flushing = false;
  #closed = false;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** `change` looks at the row again each time: it may run much later. Order is kept. */
  write(change: (transaction: Transaction) => void): void {
    this.#pending.push(change);
    // While the disk refuses, the timer asks again; a listener that writes is served after those before it.
    if (this.#timer === null && !this.#flushing) this.#flush();
  }

  /**
   * A change that can be refused, and that comes after every outcome written before it. Not for listeners of events.
   * @throws FailureError: storage-full, storage-failed, also when those before it cannot be stored; what `change` throws.
   */
  transactAfter<T>(change: (transaction: Transaction) => T): T {
    if (this.#flushing) throw new Error('outcomes are being stored just now');
    const refusal = this.#flush();
    if (refusal !== null) throw refusal;
    return this.#store.transact(change);
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Answers why there are some left. */
  #flush(): FailureError | null {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#flushing = true;
    try {
      for (let change = this.#pending[0]; change !== undefined && !this.#closed; change = this.#pending[0]) {
        try {
          this.#store.transact(change);
        } catch (error) {
          if (isOfStorage(error)) {
            this.#retryLater(error);
            return error;
          }
          this.#log.error({ err: error }, 'an outcome can never be stored; it is left out');
        }
        this.#pending.shift();
      }
    } finally {
      this.#flushing = false;
    }
    return null;
  }

  #retryLater(error: FailureError): void {
    this.#log.error(
      { err: error, waiting: this.#pending.length },
      'an outcome cannot be stored; trying again',
    );
    this.#timer = setTimeout(() => this.#flush(), RETRY_MS);
    this.#timer.unref();
  }
}

function isOfStorage(error: unknown): error is FailureError {
  if (!(error instanceof FailureError)) return false;
  return error.failure.code === 'storage-full' || error.failure.code === 'storage-failed';
}
