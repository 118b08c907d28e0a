// A node calls a small server that answers as a hub might. The pauses between calls are on a clock of the test.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import {
  CALL_HOME_CHANNEL_HEADER,
  CALL_HOME_NODE_HEADER,
  CALL_HOME_PATH,
  HubId,
  NodeId,
  NodeName,
} from '@roost/protocol';
import { parseToken } from '@roost/protocol/node';
import type { Log } from '@roost/storage';
import { CallHome, type CallHomeOptions } from './call-home.ts';
import { REAL_UPTIME_MS, reconnectDelay } from '@roost/protocol/node';

const NODE = NodeId.parse('a'.repeat(16));
const KEY = '5'.repeat(64);
const log = { debug: () => undefined, info: () => undefined } as unknown as Log;
type Call = Parameters<CallHomeOptions['server']['serveCall']>[0];

class SmallHub {
  readonly calls: { readonly request: IncomingMessage; readonly webSocket: WebSocket }[] = [];
  /** HTTP status with which calls are refused; null: they are taken. */
  refusal: number | null = null;
  refused = 0;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true });

  constructor() {
    this.#server = createServer();
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (this.refusal !== null) {
        this.refused += 1;
        socket.end(`HTTP/1.1 ${this.refusal} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) =>
        this.calls.push({ request, webSocket }),
      );
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const { webSocket } of this.calls) webSocket.terminate();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

let hub: SmallHub;
let served: Call[];
let opened: CallHome[];
let clock: number;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  hub = new SmallHub();
  await hub.listen();
  served = [];
  opened = [];
  clock = 1_000;
});
afterEach(async () => {
  for (const call of opened) call.hangUp();
  vi.useRealTimers();
  await hub.close();
});

function open(url = hub.url): CallHome {
  const call = new CallHome({
    membership: {
      hubId: HubId.parse('b'.repeat(16)),
      url,
      nodeName: NodeName.parse('far'),
      key: KEY,
      fingerprint: null,
      joinedAt: '2026-01-01T00:00:00.000Z',
    },
    nodeId: NODE,
    server: { serveCall: (one) => void served.push(one) },
    log,
    now: () => clock,
    random: () => 0,
  });
  opened.push(call);
  call.begin();
  return call;
}

/** The hub proves itself in the call of that number, counted from 1. */
async function prove(number: number): Promise<Call> {
  await until('the call', () => served.length === number);
  const call = served[number - 1];
  if (call === undefined) throw new Error('no such call');
  call.webSocket.resume();
  call.proved(true);
  return call;
}

/** Waits without the clock of the test. */
async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const answered = () => served.length + hub.refused;

/** The call ends at the hub's side; answers the pause before the next, in milliseconds. */
async function pauseAfter(end: () => void): Promise<number> {
  end();
  await until('the next call to be planned', () => vi.getTimerCount() === 1);
  const count = answered();
  let waited = 0;
  for (; vi.getTimerCount() === 1; waited += 50) vi.advanceTimersByTime(50);
  await until('the next call', () => answered() > count);
  return waited;
}

test('a call says who calls, and is served as a connection with the key of that hub', async () => {
  const call = open();
  expect(call.view).toMatchObject({ state: 'connecting', attempts: 1 });
  const { token, socket } = await prove(1);
  expect(token).toBe(parseToken(`roost_operator_${KEY}`));
  expect(socket.remoteAddress).toBe('127.0.0.1');
  const { request } = hub.calls[0] ?? {};
  expect(request?.url).toBe(CALL_HOME_PATH);
  expect(request?.headers).toMatchObject({ [CALL_HOME_NODE_HEADER]: NODE });
  expect(request?.headers).not.toHaveProperty(CALL_HOME_CHANNEL_HEADER);
  // No secret travels.
  expect(JSON.stringify(request?.rawHeaders)).not.toContain(KEY);
  expect(call.view).toMatchObject({ state: 'online', attempts: 0 });
});

test('what the hub says first waits until somebody listens', async () => {
  open();
  await until('the call to arrive', () => hub.calls.length === 1);
  hub.calls[0]?.webSocket.send('first');
  await until('the call to be served', () => served.length === 1);
  const heard: string[] = [];
  served[0]?.webSocket.on('message', (data: Buffer) => heard.push(data.toString()));
  served[0]?.webSocket.resume();
  await until('the message', () => heard.length > 0);
  expect(heard).toEqual(['first']);
});

test.each([401, 403, 404])('a hub that answers %i is asked again rarely', async (status) => {
  hub.refusal = status;
  const call = open();
  const waited = await pauseAfter(() => undefined);
  expect(waited).toBe(reconnectDelay(1, true, 0));
  expect(call.view).toMatchObject({ state: 'refused', attempts: 2 });
});

test.each([429, 500, 503])('a hub that answers %i is asked again soon', async (status) => {
  hub.refusal = status;
  const call = open();
  expect(await pauseAfter(() => undefined)).toBe(250);
  expect(call.view.state).toBe('offline');
});

test('a hub that nobody hears is offline', async () => {
  const { url } = hub;
  await hub.close();
  const call = open(url);
  await until('the hub to count as offline', () => call.view.state === 'offline');
  await hub.listen();
});

test('pauses grow while calls are short, and only one that has lasted makes them short again', async () => {
  const call = open();
  const pauses: number[] = [];
  for (let number = 1; number <= 3; number += 1) {
    await prove(number);
    clock += REAL_UPTIME_MS - 1;
    pauses.push(await pauseAfter(() => hub.calls.at(-1)?.webSocket.terminate()));
  }
  expect(pauses).toEqual([250, 500, 1_000]);
  await prove(4);
  clock += REAL_UPTIME_MS;
  expect(await pauseAfter(() => hub.calls.at(-1)?.webSocket.terminate())).toBe(250);
  // One that was never proved counts as a failure, however long it lasted.
  await until('the fifth call', () => served.length === 5);
  served[4]?.webSocket.resume();
  clock += REAL_UPTIME_MS;
  expect(await pauseAfter(() => hub.calls.at(-1)?.webSocket.terminate())).toBe(500);
  expect(call.view.state).toBe('offline');
});

test('a further call names the channel that it is for, and does not touch the first', async () => {
  const call = open();
  await prove(1);
  await call.callFor('c'.repeat(32));
  expect(served).toHaveLength(2);
  await until(
    'the channel to be named',
    () => hub.calls[1]?.request.headers[CALL_HOME_CHANNEL_HEADER] === 'c'.repeat(32),
  );
  hub.refusal = 503;
  await expect(call.callFor('d'.repeat(32))).rejects.toMatchObject({ failure: { code: 'hub-unreachable' } });
  expect(call.view.state).toBe('online');
});

test('who has hung up calls no more', async () => {
  const call = open();
  const { webSocket } = await prove(1);
  call.hangUp();
  await until('the line to end', () => webSocket.readyState === webSocket.CLOSED);
  hub.refusal = 503;
  vi.advanceTimersByTime(600_000);
  expect(hub.refused).toBe(0);
});
