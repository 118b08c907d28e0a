// A model provider on this machine: scripted answers over the vendors' real HTTP APIs, and a record of what was asked.
// Loopback only, no keys checked, everything bounded.
import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropicError, anthropicEvents, anthropicMessage, countTokens, wantsStream } from './anthropic.ts';
import { chatCompletion, chatCompletionEvents } from './chat-completions.ts';
import { type GeminiPath, geminiContent, geminiError, geminiEvents, geminiPath } from './gemini.ts';
import {
  type MockReply,
  type ModelReply,
  type RecordedRequest,
  type ReplyFunction,
  ReplyQueue,
  promptOf,
} from './replies.ts';
import { openaiError, openaiEvents, openaiResponse } from './responses.ts';
import { type StreamEvent, sendEvents } from './sse.ts';

export interface MockModelServerOptions {
  /** Given out in order before the default. */
  replies?: readonly MockReply[];
  /** Asked first; undefined passes on to the queue. */
  reply?: ReplyFunction;
  defaultReply?: MockReply;
  models?: readonly string[];
  /** 0, the default, takes a free one. */
  port?: number;
  onRequest?: (request: RecordedRequest) => void;
}

export interface MockModelServer {
  /** `http://127.0.0.1:PORT`, without a path. */
  readonly url: string;
  readonly port: number;
  /** Oldest first; the newest 1,000. */
  readonly requests: readonly RecordedRequest[];
  /** Scripted replies not given out yet. */
  readonly pendingReplies: number;
  enqueue: (...replies: MockReply[]) => void;
  /** Resolves with the first request, past or coming, that satisfies the condition. */
  waitForRequest: (
    condition: (request: RecordedRequest) => boolean,
    deadlineMs?: number,
  ) => Promise<RecordedRequest>;
  /** Ends every connection, streams in the middle too. */
  close: () => Promise<void>;
}

const BODY_LIMIT_BYTES = 32 * 1024 * 1024;
const KEPT_REQUESTS = 1000;
const DEFAULT_REPLY: MockReply = { kind: 'text', text: 'The mock model says hello.' };

interface Api {
  message: (reply: ModelReply, body: unknown) => Record<string, unknown>;
  events: (reply: ModelReply, body: unknown) => Iterable<StreamEvent>;
  error: (type: string, message: string, status: number) => Record<string, unknown>;
  rateLimit: (message: string, retryAfterSeconds: number) => Record<string, unknown>;
  wantsStream: (body: unknown) => boolean;
}

const anthropic: Api = {
  message: anthropicMessage,
  events: anthropicEvents,
  error: anthropicError,
  rateLimit: (message) => anthropicError('rate_limit_error', message),
  wantsStream,
};
const openai = {
  error: openaiError,
  rateLimit: (message: string) => openaiError('rate_limit_error', message),
  wantsStream,
};
const APIS: Readonly<Record<string, Api>> = {
  '/v1/messages': anthropic,
  '/v1/responses': { ...openai, message: openaiResponse, events: openaiEvents },
  '/v1/chat/completions': { ...openai, message: chatCompletion, events: chatCompletionEvents },
};
const geminiApi = ({ model, method }: GeminiPath): Api => ({
  message: (reply, body) => geminiContent(reply, body, model),
  events: (reply, body) => geminiEvents(reply, body, model),
  error: (type, message, status) => geminiError(status, type, message),
  rateLimit: (message, seconds) => geminiError(429, 'RESOURCE_EXHAUSTED', message, seconds),
  wantsStream: () => method === 'streamGenerateContent',
});

export async function startMockModelServer(options: MockModelServerOptions = {}): Promise<MockModelServer> {
  const queue = new ReplyQueue(options.replies ?? []);
  const requests: RecordedRequest[] = [];
  const watchers = new Set<(request: RecordedRequest) => void>();

  const record = (request: RecordedRequest): void => {
    requests.push(request);
    if (requests.length > KEPT_REQUESTS) requests.shift();
    options.onRequest?.(request);
    for (const watch of watchers) watch(request);
  };

  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(incoming);
    if (body === 'too-large') {
      sendJson(response, 413, anthropicError('request_too_large', 'the body exceeds 32 MiB'));
      return;
    }
    if (body === 'not-json') {
      sendJson(response, 400, anthropicError('invalid_request_error', 'the body is not JSON'));
      return;
    }
    const path = (incoming.url ?? '/').split('?')[0] ?? '/';
    const request = {
      method: incoming.method ?? 'GET',
      path,
      headers: incoming.headers,
      body: body.value,
      prompt: promptOf(body.value),
    };
    record(request);
    const gemini = geminiPath(path);
    const api = gemini === undefined ? APIS[path] : geminiApi(gemini);
    if (request.method === 'POST' && gemini?.method === 'countTokens') {
      sendJson(response, 200, { totalTokens: countTokens(request.body) });
    } else if (request.method === 'POST' && api !== undefined) {
      const reply = options.reply?.(request) ?? queue.take(request) ?? options.defaultReply ?? DEFAULT_REPLY;
      await sendReply(response, api, reply, request.body);
    } else if (request.method === 'POST' && path === '/v1/messages/count_tokens') {
      sendJson(response, 200, { input_tokens: countTokens(request.body) });
    } else if (request.method === 'GET' && path === '/v1/models') {
      sendJson(response, 200, modelList(options.models ?? ['mock-model']));
    } else sendJson(response, 404, anthropicError('not_found_error', `no ${request.method} ${path} here`));
  };

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    get pendingReplies() {
      return queue.length;
    },
    enqueue: (...replies) => queue.add(replies),
    waitForRequest: (condition, deadlineMs = 10_000) =>
      new Promise((resolve, reject) => {
        const past = requests.find(condition);
        if (past !== undefined) {
          resolve(past);
          return;
        }
        const stop = (): void => {
          clearTimeout(timer);
          watchers.delete(watch);
        };
        const watch = (request: RecordedRequest): void => {
          if (!condition(request)) return;
          stop();
          resolve(request);
        };
        const timer = setTimeout(() => {
          stop();
          const seen = requests.map(({ method, path }) => `${method} ${path}`).join(', ');
          reject(new Error(`no such request within ${deadlineMs} ms; seen: ${seen === '' ? 'none' : seen}`));
        }, deadlineMs);
        watchers.add(watch);
      }),
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readBody(incoming: IncomingMessage): Promise<{ value: unknown } | 'too-large' | 'not-json'> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    // Read on without keeping, so that the client gets the answer instead of a reset.
    if (size <= BODY_LIMIT_BYTES) chunks.push(bytes);
  }
  if (size > BODY_LIMIT_BYTES) return 'too-large';
  if (size === 0) return { value: undefined };
  try {
    return { value: JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown };
  } catch {
    return 'not-json';
  }
}

async function sendReply(response: ServerResponse, api: Api, reply: MockReply, body: unknown): Promise<void> {
  switch (reply.kind) {
    case 'text':
    case 'tools':
      if (api.wantsStream(body)) await sendEvents(response, api.events(reply, body), reply);
      else sendJson(response, 200, api.message(reply, body));
      return;
    case 'error':
      sendJson(
        response,
        reply.status,
        api.error(reply.type ?? 'api_error', reply.message ?? 'scripted failure', reply.status),
        reply.headers,
      );
      return;
    case 'rate-limit':
      sendJson(response, 429, api.rateLimit('scripted rate limit', reply.retryAfterSeconds), {
        'retry-after': String(reply.retryAfterSeconds),
      });
      return;
  }
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** Both vendors answer on the same path; the fields of both are there. */
function modelList(models: readonly string[]): Record<string, unknown> {
  const data = models.map((id) => ({
    id,
    object: 'model',
    type: 'model',
    display_name: id,
    created: 0,
    created_at: '2024-01-01T00:00:00Z',
    owned_by: 'mock',
  }));
  return {
    object: 'list',
    data,
    has_more: false,
    first_id: models[0] ?? null,
    last_id: models.at(-1) ?? null,
  };
}
