// The OpenAI Chat Completions API as clients see it: one completion, or the same completion as a stream of chunks.
import { randomUUID } from 'node:crypto';
import { countTokens } from './anthropic.ts';
import { type ModelReply, isRecord, pieces } from './replies.ts';
import type { StreamEvent } from './sse.ts';

interface Call {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

const newId = (prefix: string): string => `${prefix}${randomUUID().replaceAll('-', '')}`;

const callsOf = (reply: ModelReply): Call[] =>
  reply.kind === 'text'
    ? []
    : reply.calls.map(({ id, name, input }) => ({
        id: id ?? newId('call_'),
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
      }));

const headOf = (body: unknown) => ({
  id: newId('chatcmpl-'),
  created: Math.floor(Date.now() / 1000),
  model: isRecord(body) && typeof body.model === 'string' ? body.model : 'mock-model',
});

function usageOf(body: unknown, written: unknown): Record<string, unknown> {
  const input = countTokens(body);
  const output = countTokens(written);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

export function chatCompletion(reply: ModelReply, body: unknown): Record<string, unknown> {
  const calls = callsOf(reply);
  const message = {
    role: 'assistant',
    content: reply.text ?? null,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    ...headOf(body),
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: calls.length === 0 ? 'stop' : 'tool_calls' }],
    usage: usageOf(body, message),
  };
}

/** The usage comes in a last chunk without choices, to those who asked for it. */
export function* chatCompletionEvents(reply: ModelReply, body: unknown): Generator<StreamEvent> {
  const head = { ...headOf(body), object: 'chat.completion.chunk' };
  const chunk = (delta: Record<string, unknown>, finish: string | null, isPiece: boolean): StreamEvent => ({
    data: { ...head, choices: [{ index: 0, delta, finish_reason: finish }] },
    isPiece,
  });
  yield chunk({ role: 'assistant', content: '' }, null, false);
  if (reply.text !== undefined)
    for (const content of pieces(reply.text, reply.pieceLength)) yield chunk({ content }, null, true);
  const calls = callsOf(reply);
  for (const [index, call] of calls.entries()) {
    const opened = { ...call, function: { ...call.function, arguments: '' } };
    yield chunk({ tool_calls: [{ index, ...opened }] }, null, false);
    for (const part of pieces(call.function.arguments, reply.pieceLength))
      yield chunk({ tool_calls: [{ index, function: { arguments: part } }] }, null, true);
  }
  yield chunk({}, calls.length === 0 ? 'stop' : 'tool_calls', false);
  if (isRecord(body) && isRecord(body.stream_options) && body.stream_options.include_usage === true)
    yield { data: { ...head, choices: [], usage: usageOf(body, [reply.text, calls]) }, isPiece: false };
  yield { data: '[DONE]', isPiece: false };
}
