// Requests to a small server that answers as a hub might: over a socket, over loopback, over TLS with a certificate of its own.
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HUB_OPERATIONS, NODE_ROUTES, NodeId } from '@roost/protocol';
import { selfSigned } from '../../../../test/support/self-signed.ts';
import { scratchDirectory } from '../testing/fake-node.ts';
import { connectThroughHub } from './connect-through-hub.ts';
import { httpCall } from '../http-call.ts';
import { hubRequest, nodeRequest } from './hub-request.ts';
import { requestOptions, type HubTarget } from './hub-target.ts';

const ME = { kind: 'user', user: 'one', role: 'observer', scope: null, expiresAt: null };
const TOKEN = `roost_hub_${'0'.repeat(64)}`;
const NODE = NodeId.parse('a'.repeat(16));

interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly body: string;
}

let scratch: Awaited<ReturnType<typeof scratchDirectory>>;
let asked: Asked[];
let answer: { status: number; body: string };
let servers: Server[];

beforeEach(async () => {
  scratch = await scratchDirectory();
  asked = [];
  servers = [];
  answer = { status: 200, body: JSON.stringify(ME) };
});
afterEach(async () => {
  for (const server of servers) await new Promise<void>((resolve) => server.close(() => resolve()));
  await scratch[Symbol.asyncDispose]();
});

const serve: RequestListener = (request: IncomingMessage, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => (body += text));
  request.on('end', () => {
    const { method, url, headers } = request;
    asked.push({ method, url, authorization: headers.authorization, body });
    response.writeHead(answer.status, { connection: 'close' });
    response.end(answer.body);
  });
};

async function listen(server: Server, where: string | null): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => {
    if (where === null) server.listen(0, '127.0.0.1', resolve);
    else server.listen(where, resolve);
  });
  return where === null ? (server.address() as AddressInfo).port : 0;
}

const overHttp = async (): Promise<HubTarget> => ({
  url: `http://127.0.0.1:${await listen(createServer(serve), null)}`,
  token: TOKEN,
  fingerprint: null,
});

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return 'none';
  } catch (error) {
    return (error as { failure?: { code: string } }).failure?.code ?? error;
  }
}

test('parameters go where the route of an operation wants them', () => {
  const { route } = HUB_OPERATIONS['nodes.rename'];
  expect(httpCall(route, { node: 'a/b', name: 'new' })).toEqual({
    method: 'PATCH',
    path: '/api/v1/nodes/a%2Fb',
    body: '{"name":"new"}',
  });
  expect(
    httpCall(HUB_OPERATIONS['sessions.list'].route, { search: 'a b&c', limit: 5, node: undefined }).path,
  ).toBe('/api/v1/sessions?search=a+b%26c&limit=5');
  const screen = NODE_ROUTES['session.readScreen'];
  if (screen === null) throw new Error('no route');
  expect(httpCall(screen, { node: 'n', sessionId: 's', scrollback: 9 }).path).toBe(
    '/api/v1/nodes/n/sessions/s/screen?scrollback=9',
  );
  const { path } = httpCall({ method: 'GET', path: '/x' }, { some: ['a', 'b'], other: { c: 1 } });
  const query = new URLSearchParams(path.split('?')[1]);
  expect([query.getAll('some'), query.get('other')]).toEqual([['a', 'b'], '{"c":1}']);
});

test('the owner asks over the socket without a token, others over TCP with theirs', async () => {
  const socketPath = join(scratch.path, 'a:b%c?d.sock');
  await listen(createServer(serve), socketPath);
  expect(await hubRequest({ socketPath }, 'me.show', {})).toEqual(ME);
  expect(await hubRequest(await overHttp(), 'me.show', {})).toEqual(ME);
  expect(asked.map(({ method, url, authorization }) => [method, url, authorization])).toEqual([
    ['GET', '/api/v1/me', undefined],
    ['GET', '/api/v1/me', `Bearer ${TOKEN}`],
  ]);
});

test('what a hub refuses with is the failure', async () => {
  const hub = await overHttp();
  answer = { status: 404, body: JSON.stringify({ code: 'unknown-node', details: { node: 'x' } }) };
  await expect(nodeRequest(hub, 'x', 'node.status', {})).rejects.toMatchObject({
    failure: { code: 'unknown-node', details: { node: 'x' } },
  });
  answer = { status: 502, body: '<html>' };
  expect(await failureOf(hubRequest(hub, 'me.show', {}))).toBe('hub-unreachable');
  answer = { status: 400, body: JSON.stringify({ code: 'of-a-later-build' }) };
  expect(await failureOf(hubRequest(hub, 'me.show', {}))).toBe('invalid-request');
  answer = { status: 200, body: '{}' };
  expect(await failureOf(hubRequest(hub, 'me.show', {}))).toBe('internal-error');
  expect(await failureOf(nodeRequest(hub, 'x', 'events.subscribe', { after: 0 }))).toBe(
    'unsupported-capability',
  );
});

test('a hub that is not there is told by what is known of it', async () => {
  const nobody = join(scratch.path, 'nobody.sock');
  expect(await failureOf(hubRequest({ socketPath: nobody }, 'me.show', {}))).toBe('hub-not-running');
  const closed: HubTarget = { url: 'http://127.0.0.1:1', token: TOKEN, fingerprint: null };
  expect(await failureOf(hubRequest(closed, 'me.show', {}))).toBe('hub-unreachable');
  const silent = createServer(() => undefined);
  const port = await listen(silent, null);
  const slow: HubTarget = { url: `http://127.0.0.1:${port}`, token: TOKEN, fingerprint: null };
  expect(await failureOf(hubRequest(slow, 'me.show', {}, { timeoutMs: 50 }))).toBe('hub-unreachable');
  silent.closeAllConnections();
});

test.each(['http://192.0.2.1', 'http://hub.example.org', 'http://127.0.0.1.example.org'])(
  'no token is sent to %s',
  (url) => {
    expect(() => requestOptions({ url, token: TOKEN, fingerprint: null })).toThrow(
      expect.objectContaining({ failure: expect.objectContaining({ code: 'hub-untrusted' }) as object }),
    );
  },
);

test('a certificate of its own is trusted by its fingerprint, and nothing is sent to any other', async () => {
  const certificate = selfSigned();
  const server = createTlsServer({ cert: certificate.cert, key: certificate.key }, serve);
  const port = await listen(server, null);
  const hub = (fingerprint: string | null): HubTarget => ({
    url: `https://127.0.0.1:${port}`,
    token: TOKEN,
    fingerprint,
  });
  expect(await hubRequest(hub(certificate.fingerprint), 'me.show', {})).toEqual(ME);
  expect(asked).toHaveLength(1);
  for (const fingerprint of ['0'.repeat(64), null]) {
    expect(await failureOf(hubRequest(hub(fingerprint), 'me.show', {}))).toBe('hub-untrusted');
    const client = { name: 'test', version: '0' };
    expect(await failureOf(connectThroughHub(hub(fingerprint), { node: NODE, client }))).toBe(
      'hub-untrusted',
    );
  }
  expect(asked).toHaveLength(1);
});
