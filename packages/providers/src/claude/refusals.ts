/** What Claude Code refused without asking anybody: told once, though a line of its own and the turn's result both say it. */
import type { BlockAuthority } from '@roost/protocol';
import type * as z from 'zod';
import { blockedEvent } from '../blocked.ts';
import { type Conversation, eventId } from '../conversation.ts';
import type { ResultLine, SystemLine } from './stream-lines.ts';

/** Refusals of one turn that are remembered. */
const TOLD_MAX = 64;

/** Its word for what decided, and who that is. */
const DENIED_BY: Readonly<Record<string, BlockAuthority>> = {
  classifier: 'provider-classifier',
  sandboxOverride: 'provider-sandbox',
  rule: 'provider-permission-rule',
  mode: 'provider-permission-rule',
  hook: 'provider-permission-rule',
  asyncAgent: 'provider-permission-rule',
  workingDir: 'provider-permission-rule',
  safetyCheck: 'provider-permission-rule',
  subcommandResults: 'provider-permission-rule',
};

export class Refusals {
  readonly #talk: Pick<Conversation<never>, 'blocked'>;
  #told: string[];

  constructor(talk: Pick<Conversation<never>, 'blocked'>, state: readonly string[]) {
    this.#talk = talk;
    this.#told = [...state];
  }

  /** Told already, or none of the provider: its result will not tell it again. */
  known(toolId: string | null): void {
    const id = eventId(toolId);
    if (id === null || this.#told.includes(id)) return;
    this.#told = [...this.#told, id].slice(-TOLD_MAX);
  }

  /** As it happens. */
  denied(line: z.infer<typeof SystemLine>): void {
    const decidedBy = line.decision_reason_type ?? '';
    // Ours, and known already.
    if (decidedBy === 'permissionPromptTool') return;
    this.known(line.tool_use_id ?? null);
    this.#talk.blocked(
      blockedEvent({
        authority: Object.hasOwn(DENIED_BY, decidedBy) ? (DENIED_BY[decidedBy] ?? 'unknown') : 'unknown',
        tool: line.tool_name ?? null,
        toolId: line.tool_use_id ?? null,
        reason: line.decision_reason ?? line.message,
        reasonKind: decidedBy,
      }),
    );
  }

  /** By the turn's result. */
  listed(denials: ResultLine['permission_denials']): void {
    for (const { tool_name: tool, tool_use_id: toolId } of denials) {
      if (this.#told.includes(eventId(toolId) ?? '')) continue;
      this.known(toolId);
      this.#talk.blocked(
        blockedEvent({
          authority: 'provider-permission-rule',
          tool,
          toolId,
          reasonKind: 'permission-denied',
        }),
      );
    }
  }

  turnEnded(): void {
    this.#told = [];
  }

  state(): string[] {
    return this.#told;
  }
}
