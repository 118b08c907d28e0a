// One prompt on its way: queued at the node, written to the program, known to be worked on, answered.
import { PromptDelivery, type FailureError, type TurnOutcome } from '@roost/protocol';

const STATES: readonly PromptDelivery[] = PromptDelivery.options;

export class PromptJob {
  /** Its row, for as long as it is queued. */
  readonly id: number;
  readonly text: string;
  /** Where its turn begins in the timeline. */
  position: number | null = null;
  outcome: TurnOutcome | null = null;
  #state: PromptDelivery = 'queued';
  #fault: FailureError | null = null;
  #hasWork = false;
  readonly #waiting = new Set<() => void>();

  constructor({ id, text }: { readonly id: number; readonly text: string }) {
    this.id = id;
    this.text = text;
  }

  get state(): PromptDelivery {
    return this.#state;
  }

  /** It never goes back. */
  advance(state: PromptDelivery): void {
    if (STATES.indexOf(state) > STATES.indexOf(this.#state)) this.#state = state;
    if (this.#state === 'written' && this.#hasWork) this.#state = 'accepted';
    this.#tell();
  }

  /** The agent shows that it has begun; that it was written may be known only later. */
  isWorkedOn(): void {
    this.#hasWork = true;
    if (this.#state === 'written') this.advance('accepted');
  }

  fail(fault: FailureError): void {
    this.#fault ??= fault;
    this.#tell();
  }

  /** Resolves when it has come that far, or the signal aborts. @throws FailureError: it never will. */
  async reach(state: PromptDelivery, signal: AbortSignal): Promise<void> {
    for (;;) {
      if (STATES.indexOf(this.#state) >= STATES.indexOf(state) || signal.aborted) return;
      if (this.#fault !== null) throw this.#fault;
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#waiting.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        this.#waiting.add(done);
        signal.addEventListener('abort', done);
      });
    }
  }

  #tell(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
