// What an agent asks, from the moment it is told until it is settled: under which id of ours, who answers it, and what of that is
// still to be stored.
import { createHash } from 'node:crypto';
import {
  InteractionId,
  type AgentEvent,
  type InteractionAnswerer,
  type InteractionPolicy,
  type InteractionReply,
  type SessionId,
} from '@roost/protocol';
import type { InteractionAnswer } from '@roost/providers';
import type { SessionRow } from '../sessions/session-table.ts';
import type { Transaction } from '../store/store.ts';
import { answerFor, ruleFor } from './interaction-policy.ts';
import { insertInteraction, optionsOf, settleInteraction, type InteractionRow } from './interaction-table.ts';

type Change =
  | { readonly kind: 'asked'; readonly row: InteractionRow }
  | {
      readonly kind: 'settled';
      readonly row: InteractionRow;
      readonly how: Pick<InteractionRow, 'state' | 'outcome' | 'answered_by' | 'settled_at'>;
    };

interface RequestsOptions {
  readonly sessionId: SessionId;
  readonly policy: InteractionPolicy;
  /** Those that waited before. */
  readonly waiting: readonly InteractionRow[];
  /** Gives the agent an answer; false when it takes none like that. */
  readonly answer: (requestId: string, answer: InteractionAnswer) => boolean;
}

export class Requests {
  readonly #options: RequestsOptions;
  /** What waits, by the provider's id. */
  readonly #waiting: Map<string, InteractionRow>;
  /** Who answers what is being answered just now. */
  readonly #answering = new Map<string, InteractionAnswerer>();
  #changes: Change[] = [];

  constructor(options: RequestsOptions) {
    this.#options = options;
    this.#waiting = new Map(options.waiting.map((row) => [row.request_id, row]));
  }

  /** Oldest first. */
  get waiting(): readonly InteractionRow[] {
    return [...this.#waiting.values()];
  }

  /** When the first of them is refused by itself; null: none is. */
  get nextExpiry(): number | null {
    const times = this.waiting.flatMap(({ expires_at: at }) => (at === null ? [] : [at]));
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Whether that request waits, and nobody is answering it. */
  canAnswer({ id, request_id: requestId }: InteractionRow): boolean {
    return this.#waiting.get(requestId)?.id === id && !this.#answering.has(requestId);
  }

  /** The event as the timeline tells it: by an id of ours, made of where it stands; read again, it is the same. */
  told(event: AgentEvent, position: number, now: number): AgentEvent {
    switch (event.kind) {
      case 'interaction-requested': {
        const row = this.#rowOf(event, position, now);
        this.#waiting.set(event.requestId, row);
        this.#changes.push({ kind: 'asked', row });
        return { ...event, requestId: row.id };
      }
      case 'interaction-settled': {
        const row = this.#waiting.get(event.requestId);
        if (row === undefined) return event;
        const by = this.#answering.get(event.requestId) ?? null;
        this.#waiting.delete(event.requestId);
        this.#answering.delete(event.requestId);
        const { outcome } = event;
        const state = outcome === 'withdrawn' ? 'withdrawn' : by === 'deadline' ? 'expired' : 'answered';
        const answeredBy = outcome === 'withdrawn' ? null : by;
        const how = { state, outcome, answered_by: answeredBy, settled_at: now } as const;
        this.#changes.push({ kind: 'settled', row, how });
        return { ...event, requestId: row.id };
      }
      default:
        return event;
    }
  }

  /** @returns false when the request does not take that. */
  reply(row: InteractionRow, reply: InteractionReply, by: InteractionAnswerer): boolean {
    const answer = answerFor(reply, { kind: row.kind, options: optionsOf(row) });
    if (answer === null) return false;
    this.#answering.set(row.request_id, by);
    const isTaken = this.#options.answer(row.request_id, answer);
    if (!isTaken) this.#answering.delete(row.request_id);
    return isTaken;
  }

  /** Those that were just asked. */
  answerByRule(): void {
    for (const change of this.#changes) {
      if (change.kind !== 'asked' || !this.canAnswer(change.row)) continue;
      const reply = ruleFor(this.#options.policy, change.row);
      if (reply !== null) this.reply(change.row, reply, 'rule');
    }
  }

  /** Refuses what nobody has answered in time. */
  expire(now: number): void {
    for (const row of this.waiting) {
      if (row.expires_at !== null && row.expires_at <= now && this.canAnswer(row))
        this.reply(row, { kind: 'refuse', message: null }, 'deadline');
    }
  }

  store(transaction: Transaction, session: SessionRow): void {
    for (const change of this.#changes) {
      if (change.kind === 'asked') insertInteraction(transaction, session, change.row);
      else settleInteraction(transaction, session, change.row, change.how);
    }
  }

  stored(): void {
    this.#changes = [];
  }

  #rowOf(
    event: Extract<AgentEvent, { kind: 'interaction-requested' }>,
    position: number,
    now: number,
  ): InteractionRow {
    const { sessionId, policy } = this.#options;
    const id = createHash('sha256').update(`${sessionId}:${position}`).digest('hex').slice(0, 24);
    return {
      id: InteractionId.parse(id),
      session_id: sessionId,
      request_id: event.requestId,
      kind: event.interaction,
      tool: event.tool,
      title: event.title,
      detail: event.detail,
      options: JSON.stringify(event.options),
      state: 'pending',
      outcome: null,
      answered_by: null,
      asked_at: now,
      expires_at: policy.deadlineMs === null ? null : now + policy.deadlineMs,
      settled_at: null,
    };
  }
}
