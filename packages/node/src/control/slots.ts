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
    if (this.#taken >= this.#max) throw new FailureError('backend-busy', { limit: this.#max });
    this.#taken += 1;
    try {
      return await work();
    } finally {
      this.#taken -= 1;
    }
  }
}
