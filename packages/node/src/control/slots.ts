// So many at once and no more; who comes beyond that is told to come again, never kept waiting.
import { FailureError } from '@roost/protocol';

/** Reads and changes of workspaces (inspections, files, git) that may be under way at once, of all connections together. */
export const WORKSPACE_SLOTS = 4;

export class Slots {
  readonly #max: number;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs the work in a slot; the slot is given back when the work has ended, however. @throws FailureError: backend-busy. */
  async run<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
    const giveBack = this.take();
    try {
      return await work();
    } finally {
      giveBack();
    }
  }

  /**
   * A slot for work that may go on when its answer is given: to be given back, once, when the work itself has ended.
   * @throws FailureError: backend-busy.
   */
  take(): () => void {
    if (this.#taken >= this.#max) throw new FailureError('backend-busy', { limit: this.#max });
    this.#taken += 1;
    return () => {
      this.#taken -= 1;
    };
  }
}
