// How what an agent asks is answered: by the rules of its session, and in the words of the request.
import type {
  InteractionKind,
  InteractionOption,
  InteractionOptionKind,
  InteractionPolicy,
  InteractionReply,
} from '@roost/protocol';
import type { InteractionAnswer } from '@roost/providers';

/** null: a person answers. A question always waits for one. */
export function ruleFor(
  { rules }: InteractionPolicy,
  { kind, tool }: { readonly kind: InteractionKind; readonly tool: string | null },
): InteractionReply | null {
  if (kind !== 'approval') return null;
  const rule = rules.find(({ tool: named }) => names(named, tool ?? ''));
  switch (rule?.answer) {
    case 'allow':
      return { kind: 'allow' };
    case 'refuse':
      return { kind: 'refuse', message: null };
    case 'ask':
    case undefined:
      return null;
  }
}

function names(rule: string, tool: string): boolean {
  return rule.endsWith('*') ? tool.startsWith(rule.slice(0, -1)) : rule === tool;
}

/** null: the request does not take it. */
export function answerFor(
  reply: InteractionReply,
  { kind, options }: { readonly kind: InteractionKind; readonly options: readonly InteractionOption[] },
): InteractionAnswer | null {
  switch (reply.kind) {
    case 'option':
    case 'text':
    case 'refuse':
      return reply;
    case 'allow': {
      if (kind !== 'approval') return null;
      const once: InteractionOptionKind = 'allow-once';
      const option = options.find((one) => one.kind === once);
      return option === undefined ? null : { kind: 'option', optionId: option.optionId };
    }
  }
}
