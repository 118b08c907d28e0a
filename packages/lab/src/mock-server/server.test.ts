import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { buildForTest } from '../built-for-test.ts';
import { pieces } from './replies.ts';
import { type MockModelServer, type MockModelServerOptions, startMockModelServer } from './server.ts';

const open: MockModelServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function start(options?: MockModelServerOptions): Promise<MockModelServer> {
  const server = await startMockModelServer(options);
  open.push(server);
  return server;
}

const post = (server: MockModelServer, path: string, body: unknown) =>
  fetch(server.url + path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });
const user = (content: string) => ({ model: 'some-model', messages: [{ role: 'user', content }] });

interface Event {
  type: string;
  data: Record<string, unknown> & { type: string };
}

async function events(response: Response): Promise<Event[]> {
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const blocks = (await response.text()).trim().split('\n\n');
  return blocks.map((block) => {
    const [type, data] = block.split('\n');
    return { type: type!.slice('event: '.length), data: JSON.parse(data!.slice('data: '.length)) };
  });
}

test('Messages API: one message, with the model asked for', async () => {
  const server = await start({ replies: [{ kind: 'text', text: 'hi' }] });
  const message = (await (await post(server, '/v1/messages', user('x'))).json()) as Record<string, unknown>;
  expect(message).toMatchObject({
    type: 'message',
    role: 'assistant',
    model: 'some-model',
    content: [{ type: 'text', text: 'hi' }],
    stop_reason: 'end_turn',
  });
});

test('Messages API: the stream says the same text in pieces and ends properly', async () => {
  const text = 'a long answer with \u{1f680}\u{1f680}\u{1f680} in it, cut many times';
  const server = await start({ replies: [{ kind: 'text', text, pieceLength: 1 }] });
  const all = await events(await post(server, '/v1/messages', { ...user('x'), stream: true }));
  expect(all.every(({ type, data }) => type === data.type)).toBe(true);
  expect([all[0]!.type, all[1]!.type]).toEqual(['message_start', 'content_block_start']);
  expect(all.slice(-3).map(({ type }) => type)).toEqual([
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
  const deltas = all
    .filter(({ type }) => type === 'content_block_delta')
    .map(({ data }) => (data.delta as { text: string }).text);
  expect(deltas.length).toBeGreaterThan(40);
  expect(deltas.join('')).toBe(text);
});

test('Messages API: tool calls stream their input as JSON', async () => {
  const server = await start({
    replies: [{ kind: 'tools', text: 'let me', calls: [{ name: 'Bash', input: { command: 'ls -la' } }] }],
  });
  const all = await events(await post(server, '/v1/messages', { ...user('x'), stream: true }));
  const json = all
    .map(({ data }) => data.delta as { type?: string; partial_json?: string } | undefined)
    .filter((delta) => delta?.type === 'input_json_delta')
    .map((delta) => delta?.partial_json);
  expect(JSON.parse(json.join(''))).toEqual({ command: 'ls -la' });
  expect(all.at(-2)!.data).toMatchObject({ delta: { stop_reason: 'tool_use' } });
});

test('Messages API: count_tokens answers a number', async () => {
  const server = await start();
  const counted = (await (await post(server, '/v1/messages/count_tokens', user('x'))).json()) as {
    input_tokens: number;
  };
  expect(counted.input_tokens).toBeGreaterThan(0);
});

test('Responses API: stream and single response carry the same output', async () => {
  const server = await start({
    defaultReply: {
      kind: 'tools',
      text: 'hello there',
      calls: [{ name: 'shell', input: { command: ['ls'] }, id: 'call_1' }],
    },
  });
  const single = (await (await post(server, '/v1/responses', { model: 'm', input: 'x' })).json()) as {
    output: unknown[];
  };
  const output = [
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hello there' }] },
    { type: 'function_call', call_id: 'call_1', name: 'shell', arguments: '{"command":["ls"]}' },
  ];
  expect(single.output).toMatchObject(output);
  const all = await events(await post(server, '/v1/responses', { model: 'm', input: 'x', stream: true }));
  expect(all.map(({ data }) => data.sequence_number)).toEqual(all.map((_, index) => index));
  expect(all[0]!.type).toBe('response.created');
  expect(all.at(-1)!).toMatchObject({
    type: 'response.completed',
    data: { response: { status: 'completed', output } },
  });
  const text = all.filter(({ type }) => type === 'response.output_text.delta').map(({ data }) => data.delta);
  expect(text.join('')).toBe('hello there');
});

/** Events without names, as two of the APIs have them; the mark of the end stays a text. */
async function namelessEvents(response: Response): Promise<unknown[]> {
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const blocks = (await response.text()).trim().split('\n\n');
  return blocks.map((block) => {
    const data = block.slice('data: '.length);
    return data === '[DONE]' ? data : (JSON.parse(data) as unknown);
  });
}

const tools = {
  kind: 'tools',
  text: 'hello there',
  calls: [{ name: 'shell', input: { command: 'ls -la' }, id: 'call_1' }],
} as const;

test('Chat Completions API: stream and single completion carry the same text and call', async () => {
  const server = await start({ defaultReply: tools });
  const call = {
    id: 'call_1',
    type: 'function',
    function: { name: 'shell', arguments: '{"command":"ls -la"}' },
  };
  const single: unknown = await (await post(server, '/v1/chat/completions', user('x'))).json();
  expect(single).toMatchObject({
    object: 'chat.completion',
    model: 'some-model',
    choices: [
      {
        message: { role: 'assistant', content: 'hello there', tool_calls: [call] },
        finish_reason: 'tool_calls',
      },
    ],
  });

  interface Chunk {
    choices: {
      delta: { content?: string; tool_calls?: { function: { arguments: string } }[] };
      finish_reason: string | null;
    }[];
    usage?: { total_tokens: number };
  }
  const all = await namelessEvents(
    await post(server, '/v1/chat/completions', {
      ...user('x'),
      stream: true,
      stream_options: { include_usage: true },
    }),
  );
  expect(all.at(-1)).toBe('[DONE]');
  const chunks = all.slice(0, -1) as Chunk[];
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  expect(deltas.map(({ content }) => content ?? '').join('')).toBe('hello there');
  const parts = deltas.flatMap(({ tool_calls }) => tool_calls ?? []);
  expect(parts[0]).toMatchObject({ index: 0, id: 'call_1', function: { name: 'shell' } });
  expect(parts.map((part) => part.function.arguments).join('')).toBe('{"command":"ls -la"}');
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls');
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
});

test('Gemini API: stream and single response carry the same parts; the model stands in the path', async () => {
  const server = await start({ defaultReply: tools });
  const body = { contents: [{ role: 'user', parts: [{ text: 'find me' }] }] };
  const path = '/v1beta/models/some-model';
  interface Partial {
    candidates: { content: { parts: { text?: string }[] }; finishReason?: string }[];
  }
  const single = (await (await post(server, `${path}:generateContent`, body)).json()) as Partial;
  expect(single).toMatchObject({
    modelVersion: 'some-model',
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { text: 'hello there' },
            { functionCall: { id: 'call_1', name: 'shell', args: { command: 'ls -la' } } },
          ],
        },
        finishReason: 'STOP',
      },
    ],
  });
  const all = (await namelessEvents(
    await post(server, `${path}:streamGenerateContent?alt=sse`, body),
  )) as Partial[];
  const parts = all.flatMap(({ candidates }) => candidates.flatMap(({ content }) => content.parts));
  expect(parts.map(({ text }) => text ?? '').join('')).toBe('hello there');
  expect(parts).toContainEqual({
    functionCall: { id: 'call_1', name: 'shell', args: { command: 'ls -la' } },
  });
  expect(all.at(-1)).toMatchObject({ usageMetadata: { totalTokenCount: expect.any(Number) } });
  expect(server.requests.map(({ prompt }) => prompt)).toEqual(['find me', 'find me']);
  const counted: unknown = await (await post(server, `${path}:countTokens`, body)).json();
  expect(counted).toEqual({ totalTokens: expect.any(Number) });
});

test('Gemini API: a rate limit names the time to wait in its details', async () => {
  const server = await start({
    replies: [
      { kind: 'rate-limit', retryAfterSeconds: 7 },
      { kind: 'error', status: 503, type: 'UNAVAILABLE', message: 'busy' },
    ],
  });
  const path = '/v1beta/models/some-model:streamGenerateContent';
  const limited = await post(server, path, { contents: [] });
  expect(limited.status).toBe(429);
  expect(await limited.json()).toMatchObject({
    error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '7s' }] },
  });
  expect(await (await post(server, path, { contents: [] })).json()).toMatchObject({
    error: { code: 503, status: 'UNAVAILABLE', message: 'busy' },
  });
});

test('a stream without event names can be slow and be cut too', async () => {
  const server = await start({
    replies: [
      { kind: 'text', text: 'abcde', pieceLength: 1, cutAfter: 2 },
      { kind: 'text', text: 'abcde', pieceLength: 1, delayMs: 20 },
    ],
  });
  const path = '/v1beta/models/some-model:streamGenerateContent';
  await expect((await post(server, path, { contents: [] })).text()).rejects.toThrow();
  const startedAt = performance.now();
  await namelessEvents(await post(server, '/v1/chat/completions', { ...user('x'), stream: true }));
  expect(performance.now() - startedAt).toBeGreaterThan(90);
});

test('GET /v1/models lists the models; other paths are 404 with JSON', async () => {
  const server = await start({ models: ['a', 'b'] });
  const list = (await (await fetch(`${server.url}/v1/models?limit=5`)).json()) as { data: { id: string }[] };
  expect(list.data.map(({ id }) => id)).toEqual(['a', 'b']);
  const missing = await fetch(`${server.url}/v2/other`);
  expect(missing.status).toBe(404);
  expect(await missing.json()).toMatchObject({ type: 'error' });
});

test('errors and rate limits come with their status, header and vendor shape', async () => {
  const server = await start({
    replies: [
      { kind: 'error', status: 529, type: 'overloaded_error', message: 'busy' },
      { kind: 'rate-limit', retryAfterSeconds: 7 },
    ],
  });
  const busy = await post(server, '/v1/messages', user('x'));
  expect([busy.status, await busy.json()]).toEqual([
    529,
    { type: 'error', error: { type: 'overloaded_error', message: 'busy' } },
  ]);
  const limited = await post(server, '/v1/responses', { input: 'x' });
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
  expect(await limited.json()).toMatchObject({ error: { type: 'rate_limit_error' } });
});

test('a reply with a match waits for its prompt; a function goes first; the default fills in', async () => {
  const server = await start({
    replies: [{ kind: 'text', text: 'matched', match: 'deploy' }],
    reply: ({ prompt }) => (prompt === 'special' ? { kind: 'text', text: 'function' } : undefined),
    defaultReply: { kind: 'text', text: 'default' },
  });
  const ask = async (prompt: string) => {
    const message = (await (await post(server, '/v1/messages', user(prompt))).json()) as {
      content: { text: string }[];
    };
    return message.content[0]!.text;
  };
  expect([
    await ask('hello'),
    await ask('special'),
    await ask('please deploy'),
    await ask('please deploy'),
  ]).toEqual(['default', 'function', 'matched', 'default']);
  expect(server.pendingReplies).toBe(0);
  expect(server.requests.map(({ method, path, prompt }) => [method, path, prompt])[2]).toEqual([
    'POST',
    '/v1/messages',
    'please deploy',
  ]);
  expect(await server.waitForRequest(({ prompt }) => prompt === 'special')).toMatchObject({
    body: user('special'),
  });
  await expect(server.waitForRequest(({ prompt }) => prompt === 'never', 30)).rejects.toThrow(
    'seen: POST /v1/messages',
  );
});

test('a slow stream takes its time and can be cut in the middle', async () => {
  const server = await start({
    replies: [
      { kind: 'text', text: 'abcde', pieceLength: 1, delayMs: 30 },
      { kind: 'text', text: 'abcde', pieceLength: 1, cutAfter: 2 },
    ],
  });
  const startedAt = performance.now();
  await events(await post(server, '/v1/messages', { ...user('x'), stream: true }));
  expect(performance.now() - startedAt).toBeGreaterThan(140);
  const cut = await post(server, '/v1/messages', { ...user('x'), stream: true });
  await expect(cut.text()).rejects.toThrow();
});

test('close ends idle connections and running streams at once', async () => {
  const server = await start({
    replies: [{ kind: 'text', text: 'x'.repeat(100), pieceLength: 1, delayMs: 10_000 }],
  });
  const idle = connect(server.port, '127.0.0.1');
  await once(idle, 'connect');
  const stream = await post(server, '/v1/messages', { ...user('x'), stream: true });
  const startedAt = performance.now();
  idle.resume();
  await Promise.all([server.close(), once(idle, 'close'), expect(stream.text()).rejects.toThrow()]);
  expect(performance.now() - startedAt).toBeLessThan(2000);
});

test('broken and huge bodies are refused', async () => {
  const server = await start();
  expect((await post(server, '/v1/messages', '{nope')).status).toBe(400);
  expect((await post(server, '/v1/messages', 'x'.repeat(33 * 1024 * 1024))).status).toBe(413);
  expect(server.requests).toHaveLength(0);
});

test('pieces never split a surrogate pair and lose nothing', () => {
  expect(pieces('a\u{1f680}b', 2)).toEqual(['a\u{1f680}', 'b']);
  expect(pieces('', 5)).toEqual(['']);
});

test('the process prints where it listens, answers, and ends on SIGTERM', async () => {
  const built = await buildForTest('mock-server');
  const child = spawn(process.execPath, [built.file, '--text', 'from the process'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { url } = JSON.parse(line.toString()) as { url: string };
    const response = await fetch(`${url}/v1/messages`, { method: 'POST', body: JSON.stringify(user('x')) });
    expect(await response.json()).toMatchObject({ content: [{ text: 'from the process' }] });
  } finally {
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    await built.remove();
  }
});
