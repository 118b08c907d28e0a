// The Gemini API as clients see it: `generateContent`, or the same content as a stream of partial responses.
import { randomUUID } from 'node:crypto';
import { countTokens } from './anthropic.ts';
import { type ModelReply, isRecord, pieces } from './replies.ts';
import type { StreamEvent } from './sse.ts';

type Part =
  { text: string } | { functionCall: { id?: string; name: string; args: Readonly<Record<string, unknown>> } };

const callParts = (reply: ModelReply): Part[] =>
  reply.kind === 'text'
    ? []
    : reply.calls.map(({ id, name, input }) => ({
        functionCall: { ...(id === undefined ? {} : { id }), name, args: input },
      }));

function usageOf(body: unknown, parts: readonly Part[]): Record<string, unknown> {
  const input = countTokens(isRecord(body) ? body.contents : body);
  const output = countTokens(parts);
  return { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output };
}

/** The model stands in the path: `/v1beta/models/MODEL:generateContent`. */
export interface GeminiPath {
  model: string;
  method: 'generateContent' | 'streamGenerateContent' | 'countTokens';
}

export function geminiPath(path: string): GeminiPath | undefined {
  const [, model, method] =
    /^\/v1(?:beta|alpha)?\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/.exec(
      path,
    ) ?? [];
  if (model === undefined || method === undefined) return undefined;
  return { model, method: method as GeminiPath['method'] };
}

const response = (model: string, responseId: string, parts: readonly Part[], isLast: boolean) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(isLast ? { finishReason: 'STOP' } : {}) }],
  modelVersion: model,
  responseId,
});

export function geminiContent(reply: ModelReply, body: unknown, model: string): Record<string, unknown> {
  const parts: Part[] = [...(reply.text === undefined ? [] : [{ text: reply.text }]), ...callParts(reply)];
  return { ...response(model, randomUUID(), parts, true), usageMetadata: usageOf(body, parts) };
}

/** Function calls come whole, in one piece each. */
export function* geminiEvents(reply: ModelReply, body: unknown, model: string): Generator<StreamEvent> {
  const id = randomUUID();
  const parts: Part[] = [
    ...(reply.text === undefined ? [] : pieces(reply.text, reply.pieceLength).map((text) => ({ text }))),
    ...callParts(reply),
  ];
  for (const part of parts) yield { data: response(model, id, [part], false), isPiece: true };
  yield {
    data: { ...response(model, id, [{ text: '' }], true), usageMetadata: usageOf(body, parts) },
    isPiece: false,
  };
}

/** `type` is the vendor's status, such as `RESOURCE_EXHAUSTED`; retry times stand in the details, not in a header. */
export function geminiError(
  code: number,
  type: string,
  message: string,
  retryAfterSeconds?: number,
): Record<string, unknown> {
  const details =
    retryAfterSeconds === undefined
      ? []
      : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSeconds}s` }];
  return { error: { code, message, status: type, details } };
}
