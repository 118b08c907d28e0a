// The prompts of one conversation: those that wait for their turn, the one whose turn runs, and those that have just been given or
// answered and whose callers are told once that is stored.
import type { AgentEvent, FailureError, TurnOutcome } from '@roost/protocol';
import type { AgentDriver } from '@roost/providers';
import type { PromptJob } from './prompt-job.ts';

/** Prompts of one session that wait. */
const WAITING_MAX = 32;

/** Events by which an agent shows that it is at work on what it was told. */
const WORK: ReadonlySet<AgentEvent['kind']> = new Set([
  'message',
  'thinking',
  'tool-started',
  'plan',
  'interaction-requested',
  'quota',
  'turn-finished',
]);

export class PromptQueue {
  readonly #waiting: PromptJob[];
  /** Whose turn runs. */
  #current: PromptJob | null = null;
  /** Given to the driver since the last transaction. */
  #given: PromptJob[] = [];
  #answered: { readonly job: PromptJob; readonly outcome: TurnOutcome }[] = [];

  constructor(waiting: readonly PromptJob[]) {
    this.#waiting = [...waiting];
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  get isFull(): boolean {
    return this.#waiting.length >= WAITING_MAX;
  }

  /** Since the last transaction. */
  get given(): readonly PromptJob[] {
    return this.#given;
  }

  add(job: PromptJob): void {
    this.#waiting.push(job);
  }

  /** The next one, when the agent takes one now. */
  giveNext(driver: AgentDriver): void {
    const [job] = this.#waiting;
    if (job === undefined || !driver.takesPrompt) return;
    // Its turn may be told while it is given.
    this.#current = job;
    if (!driver.prompt(job.text)) {
      this.#current = null;
      return;
    }
    this.#waiting.shift();
    this.#given.push(job);
  }

  /** An event of the agent, in its order; whose turn it begins. */
  emitted(event: AgentEvent, isFromAgent: boolean): PromptJob | null {
    const job = this.#current;
    if (job === null) return null;
    if (isFromAgent && WORK.has(event.kind) && !('agentId' in event)) job.isWorkedOn();
    if (event.kind === 'turn-finished') {
      this.#answered.push({ job, outcome: event.outcome });
      this.#current = null;
    }
    return event.kind === 'turn-started' ? job : null;
  }

  /** A transaction holds all of it: `sent` resolves when the program has its lines. */
  stored(sent: Promise<void>): void {
    const given = this.#given;
    this.#given = [];
    if (given.length === 0) return;
    sent.then(
      () => {
        for (const job of given) job.advance('written');
      },
      // Out of reach now: it gets them later. What it never gets ends the conversation.
      () => undefined,
    );
  }

  /** Callers learn what became of theirs. */
  tell(): void {
    for (const { job, outcome } of this.#answered.splice(0)) {
      job.outcome = outcome;
      job.advance('answered');
    }
  }

  /** None of those that wait will be given. */
  fail(fault: FailureError): void {
    for (const job of this.#waiting.splice(0)) job.fail(fault);
  }
}
