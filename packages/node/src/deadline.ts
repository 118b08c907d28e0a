// A moment on the monotonic clock by which something has to have happened; none at all for work that takes as long as it takes.

/** In place of a result that did not come in time. */
export const OVER: unique symbol = Symbol('over');

/** The longest that a timer of the platform can wait. */
const TIMER_MS_MAX = 0x7fffffff;

export class Deadline {
  /** Milliseconds on the clock of `performance.now()`; null for none. */
  readonly #at: number | null;

  constructor(at: number | null) {
    this.#at = at;
  }

  static in(milliseconds: number): Deadline {
    return new Deadline(performance.now() + milliseconds);
  }

  /** Milliseconds until then, never below 0; infinite without one. */
  remaining(): number {
    return this.#at === null ? Infinity : Math.max(0, this.#at - performance.now());
  }

  hasPassed(): boolean {
    return this.#at !== null && performance.now() >= this.#at;
  }

  /** The result of the work, or `OVER` when the deadline passes first. The work itself goes on. */
  async race<T>(work: Promise<T>): Promise<T | typeof OVER> {
    if (this.#at === null) return work;
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<typeof OVER>((resolve) => {
      const left = Math.ceil((this.#at ?? 0) - performance.now());
      timer = setTimeout(() => resolve(OVER), Math.min(Math.max(0, left), TIMER_MS_MAX));
    });
    try {
      return await Promise.race([work, over]);
    } finally {
      clearTimeout(timer);
    }
  }
}
