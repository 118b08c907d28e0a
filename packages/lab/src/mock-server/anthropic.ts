// The Anthropic Messages API as clients see it: one message, or the same message as a stream of events.
import { randomUUID } from 'node:crypto';
import { type ModelReply, isRecord, pieces } from './replies.ts';
import type { StreamEvent } from './sse.ts';

export const wantsStream = (body: unknown): boolean => isRecord(body) && body.stream === true;

const modelOf = (body: unknown): string =>
  isRecord(body) && typeof body.model === 'string' ? body.model : 'mock-model';

type Block =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Readonly<Record<string, unknown>> };

function blocksOf(reply: ModelReply): Block[] {
  const text: Block[] = reply.text === undefined ? [] : [{ type: 'text', text: reply.text }];
  if (reply.kind === 'text') return text;
  const calls = reply.calls.map(({ id, name, input }): Block => ({
    type: 'tool_use',
    id: id ?? `toolu_${randomUUID().replaceAll('-', '')}`,
    name,
    input,
  }));
  return [...text, ...calls];
}

/** About four characters a token, as good as any for tests. */
export const countTokens = (value: unknown): number =>
  Math.max(1, Math.ceil(JSON.stringify(value ?? '').length / 4));

export function anthropicMessage(reply: ModelReply, body: unknown): Record<string, unknown> {
  const content = blocksOf(reply);
  return {
    id: `msg_${randomUUID().replaceAll('-', '')}`,
    type: 'message',
    role: 'assistant',
    model: modelOf(body),
    content,
    stop_reason: reply.kind === 'tools' ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: countTokens(body),
      output_tokens: countTokens(content),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    },
  };
}

export function* anthropicEvents(reply: ModelReply, body: unknown): Generator<StreamEvent> {
  const message = anthropicMessage(reply, body);
  const usage = message.usage as Record<string, number>;
  const start = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  yield event('message_start', { message: start });
  for (const [index, block] of (message.content as Block[]).entries()) {
    switch (block.type) {
      case 'text':
        yield event('content_block_start', { index, content_block: { type: 'text', text: '' } });
        for (const text of pieces(block.text, reply.pieceLength))
          yield piece({ index, delta: { type: 'text_delta', text } });
        break;
      case 'tool_use':
        yield event('content_block_start', { index, content_block: { ...block, input: {} } });
        for (const partial_json of pieces(JSON.stringify(block.input), reply.pieceLength)) {
          yield piece({ index, delta: { type: 'input_json_delta', partial_json } });
        }
        break;
    }
    yield event('content_block_stop', { index });
  }
  yield event('message_delta', {
    delta: { stop_reason: message.stop_reason, stop_sequence: null },
    usage: { output_tokens: usage.output_tokens },
  });
  yield event('message_stop', {});
}

const event = (type: string, data: Record<string, unknown>): StreamEvent => ({
  type,
  data: { type, ...data },
  isPiece: false,
});
const piece = (data: Record<string, unknown>): StreamEvent => ({
  ...event('content_block_delta', data),
  isPiece: true,
});

export const anthropicError = (type: string, message: string): Record<string, unknown> => ({
  type: 'error',
  error: { type, message },
});
