// A line to a node through a small server that answers as a hub might.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { OFFERED_CAPABILITIES, RelayOpen } from '@roost/protocol';
import { connectThroughHub } from './connect-through-hub.ts';
import type { HubTarget } from './hub-target.ts';

const TOKEN = `roost_hub_${'0'.repeat(64)}`;
const NODE = 'a'.repeat(16);
const client = { name: 'test', version: '0' };
const OPENED = {
  kind: 'opened',
  selection: {
    protocol: 2,
    capabilities: [...OFFERED_CAPABILITIES],
    nonce: '0'.repeat(64),
    node: { id: NODE, incarnation: '1'.repeat(16), version: '9' },
  },
  ready: { kind: 'ready', connectionId: 3, sequence: 7, controller: null },
  role: 'observer',
};

let server: Server;
let sockets: WebSocketServer;
let asked: { readonly url: string | undefined; readonly authorization: string | undefined }[];
let hub: HubTarget;
/** What is done with a line that is asked for. */
let take: (webSocket: WebSocket, frame: unknown) => void;

beforeEach(async () => {
  asked = [];
  take = (webSocket) => webSocket.send(JSON.stringify(OPENED));
  server = createServer((_, response) => {
    response.writeHead(404, { 'content-type': 'application/problem+json' });
    response.end(JSON.stringify({ code: 'unknown-node', details: { node: 'x' } }));
  });
  sockets = new WebSocketServer({ server });
  sockets.on('connection', (webSocket, { url, headers: { authorization } }) => {
    asked.push({ url, authorization });
    webSocket.on('message', (data: Buffer) => take(webSocket, JSON.parse(data.toString())));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  hub = { url: `http://127.0.0.1:${port}`, token: TOKEN, fingerprint: null };
});
afterEach(async () => {
  for (const webSocket of sockets.clients) webSocket.terminate();
  sockets.close();
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

test('a line is that of a node: its facts, its requests, its events', async () => {
  take = (webSocket, frame) => {
    if (RelayOpen.safeParse(frame).success) {
      webSocket.send(JSON.stringify(OPENED));
      return;
    }
    const { id } = frame as { id: number };
    webSocket.send(
      JSON.stringify({ kind: 'response', id, result: { last: 9, floor: 0, resyncRequired: false } }),
    );
  };
  const line = await connectThroughHub(hub, { node: 'a b', client });
  expect(asked).toEqual([{ url: '/api/v1/nodes/a%20b/connect', authorization: `Bearer ${TOKEN}` }]);
  expect(line).toMatchObject({
    node: OPENED.selection.node,
    role: 'observer',
    connectionId: 3,
    sequence: 7,
    isLocal: false,
  });
  expect(await line.subscribeEvents({ sequence: 7 }, () => undefined)).toMatchObject({ last: 9 });
  const ended = new Promise<void>((resolve) => void line.onClose(resolve));
  for (const webSocket of sockets.clients) webSocket.terminate();
  await ended;
  await expect(line.request('node.status', {})).rejects.toMatchObject({
    failure: { code: 'connection-lost' },
  });
});

test.each([
  [
    'a refusal',
    JSON.stringify({ kind: 'refused', failure: { code: 'node-offline', message: '' } }),
    'node-offline',
  ],
  ['another frame', JSON.stringify({ kind: 'event' }), 'unsupported-protocol'],
  ['no JSON', 'nonsense', 'unsupported-protocol'],
])('%s in answer to the opening is told', async (_, text, code) => {
  take = (webSocket) => webSocket.send(text);
  await expect(connectThroughHub(hub, { node: NODE, client })).rejects.toMatchObject({ failure: { code } });
  await expect.poll(() => sockets.clients.size).toBe(0);
});

test('a hub that ends the line, or says nothing, is unreachable', async () => {
  take = (webSocket) => webSocket.close();
  await expect(connectThroughHub(hub, { node: NODE, client })).rejects.toMatchObject({
    failure: { code: 'hub-unreachable' },
  });
  take = () => undefined;
  await expect(connectThroughHub(hub, { node: NODE, client, timeoutMs: 100 })).rejects.toMatchObject({
    failure: { code: 'hub-unreachable' },
  });
});

test('what the hub refuses the upgrade with is the failure', async () => {
  sockets.close();
  server.on('upgrade', (_, socket) => {
    const body = JSON.stringify({ code: 'unauthenticated' });
    socket.end(`HTTP/1.1 401 No\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
  });
  await expect(connectThroughHub(hub, { node: NODE, client })).rejects.toMatchObject({
    failure: { code: 'unauthenticated' },
  });
});
