// Who was first: the work that makes its change, or the time at which the caller is told that nothing happened. Never both.
import type { FailureError } from '@roost/protocol';
import { OVER, type Deadline } from '../deadline.ts';
import { PathFault } from './path-fault.ts';

export class CommitGate {
  #state: 'pending' | 'committing' | 'canceled' = 'pending';
  readonly #mayStill: () => void;

  /** `mayStill` throws when the change is no longer wanted; asked in the moment of committing. */
  constructor(mayStill: () => void = () => undefined) {
    this.#mayStill = mayStill;
  }

  /** Called in the same turn that issues the change. @throws PathFault canceled. */
  commit(): void {
    if (this.#state === 'canceled') throw new PathFault('canceled');
    this.#mayStill();
    this.#state = 'committing';
  }

  /** Whether the change will certainly never be made. */
  cancel(): boolean {
    if (this.#state === 'pending') this.#state = 'canceled';
    return this.#state === 'canceled';
  }
}

/**
 * The outcome of the work. At the deadline, work that has not committed is called off and `tooLate` is thrown; work that has is
 * waited for, however long that takes, and told as it ends.
 */
export async function settleBy<Outcome>(
  deadline: Deadline,
  gate: CommitGate,
  work: Promise<Outcome>,
  tooLate: () => FailureError,
): Promise<Outcome> {
  const outcome = await deadline.race(work);
  if (outcome !== OVER) return outcome;
  if (gate.cancel()) throw tooLate();
  return work;
}
