/** The tokens that a turn or a call has used, out of the places where agents put them. */
import type * as z from 'zod';
import type { Conversation } from '../conversation.ts';
import { isObject } from '../json-object.ts';
import type { PromptResult } from './session-messages.ts';

/** Where each keeps it: the result's `usage`, Gemini's `_meta.quota.token_count`, Qwen's `_meta.usage` of the last chunk. */
export function tellUsage(
  talk: Pick<Conversation<never>, 'usage'>,
  usage: z.infer<typeof PromptResult>['usage'],
  meta: Readonly<Record<string, unknown>> | null,
): void {
  if (usage !== null) {
    talk.usage('turn', {
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      reasoningTokens: usage.thoughtTokens,
      cacheReadTokens: usage.cachedReadTokens,
      cacheWriteTokens: usage.cachedWriteTokens,
    });
    return;
  }
  const quota = isObject(meta?.quota) ? meta.quota.token_count : null;
  const counts = isObject(quota) ? quota : isObject(meta?.usage) ? meta.usage : null;
  if (counts === null) return;
  const number = (...names: readonly string[]): number | null => {
    const found = names.map((name) => counts[name]).find((value) => typeof value === 'number');
    return typeof found === 'number' ? found : null;
  };
  talk.usage(counts === quota ? 'turn' : 'call', {
    inputTokens: number('input_tokens', 'inputTokens'),
    outputTokens: number('output_tokens', 'outputTokens'),
    reasoningTokens: number('thoughtTokens', 'thought_tokens'),
    cacheReadTokens: number('cachedReadTokens', 'cached_tokens'),
  });
}
