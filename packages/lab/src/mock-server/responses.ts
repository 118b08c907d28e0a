// The OpenAI Responses API as clients see it: one response, or the same response as a stream of numbered events.
import { randomUUID } from 'node:crypto';
import { countTokens } from './anthropic.ts';
import { type ModelReply, isRecord, pieces } from './replies.ts';
import type { StreamEvent } from './sse.ts';

const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '')}`;

interface MessageItem {
  type: 'message';
  id: string;
  status: string;
  role: 'assistant';
  content: { type: 'output_text'; text: string; annotations: [] }[];
}
interface FunctionCallItem {
  type: 'function_call';
  id: string;
  status: string;
  call_id: string;
  name: string;
  arguments: string;
}
type Item = MessageItem | FunctionCallItem;

function itemsOf(reply: ModelReply): Item[] {
  const message = (text: string): Item => ({
    type: 'message',
    id: newId('msg'),
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
  });
  const text = reply.text === undefined ? [] : [message(reply.text)];
  if (reply.kind === 'text') return text;
  const calls = reply.calls.map(({ id, name, input }): Item => ({
    type: 'function_call',
    id: newId('fc'),
    status: 'completed',
    call_id: id ?? newId('call'),
    name,
    arguments: JSON.stringify(input),
  }));
  return [...text, ...calls];
}

export function openaiResponse(
  reply: ModelReply,
  body: unknown,
): Record<string, unknown> & { output: Item[] } {
  const output = itemsOf(reply);
  const input = countTokens(body);
  const written = countTokens(output);
  return {
    id: newId('resp'),
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'completed',
    model: isRecord(body) && typeof body.model === 'string' ? body.model : 'mock-model',
    output,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    error: null,
    incomplete_details: null,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: written,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + written,
    },
  };
}

export function* openaiEvents(reply: ModelReply, body: unknown): Generator<StreamEvent> {
  const response = openaiResponse(reply, body);
  const opened = { ...response, status: 'in_progress', output: [], usage: null };
  let sequence = 0;
  const event = (type: string, data: Record<string, unknown>, isPiece = false): StreamEvent => ({
    type,
    data: { type, sequence_number: sequence++, ...data },
    isPiece,
  });

  yield event('response.created', { response: opened });
  yield event('response.in_progress', { response: opened });
  for (const [output_index, item] of response.output.entries()) {
    const place = { output_index, item_id: item.id };
    switch (item.type) {
      case 'message': {
        const text = item.content[0]?.text ?? '';
        const part = { ...place, content_index: 0 };
        yield event('response.output_item.added', {
          output_index,
          item: { ...item, status: 'in_progress', content: [] },
        });
        yield event('response.content_part.added', {
          ...part,
          part: { type: 'output_text', text: '', annotations: [] },
        });
        for (const delta of pieces(text, reply.pieceLength))
          yield event('response.output_text.delta', { ...part, delta }, true);
        yield event('response.output_text.done', { ...part, text });
        yield event('response.content_part.done', { ...part, part: item.content[0] });
        break;
      }
      case 'function_call':
        yield event('response.output_item.added', {
          output_index,
          item: { ...item, status: 'in_progress', arguments: '' },
        });
        for (const delta of pieces(item.arguments, reply.pieceLength)) {
          yield event('response.function_call_arguments.delta', { ...place, delta }, true);
        }
        yield event('response.function_call_arguments.done', { ...place, arguments: item.arguments });
        break;
    }
    yield event('response.output_item.done', { output_index, item });
  }
  yield event('response.completed', { response });
}

export const openaiError = (type: string, message: string): Record<string, unknown> => ({
  error: { message, type, param: null, code: type },
});
