// A relay between two real WebSockets: the client's on one side, a node that is made of data on the other.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type WebSocket from 'ws';
import type { NodeLine } from '@roost/client';
import {
  failure,
  FailureError,
  LONG_REQUESTS_BYTES_MAX,
  NodeId,
  OFFERED_CAPABILITIES,
  OPERATIONS,
  SessionId,
  SessionName,
  UserName,
  WorkspaceId,
  type Failure,
  type HubRole,
  type HubScope,
  type HubSession,
  type OperationName,
} from '@roost/protocol';
import type { Principal } from '../access/principal.ts';
import { NODE_ID } from './connection-for-test.ts';
import type { LineRequest } from './node-way.ts';
import { PartedBudget } from './parted-budget.ts';
import { Relay } from './relay.ts';
import { TestSockets } from './sockets-for-test.ts';

const HERE = WorkspaceId.parse('here');
const SESSION = SessionId.parse('a'.repeat(16));
const OPEN = {
  kind: 'open',
  protocol: { min: 1, max: 9 },
  capabilities: [...OFFERED_CAPABILITIES],
  client: { name: 'test', version: '0' },
};

const SECRET = {
  id: SessionId.parse('b'.repeat(16)),
  name: 'secret',
  workspaceId: WorkspaceId.parse('elsewhere'),
};

interface Relayed {
  readonly relay: Relay;
  readonly client: Peer;
  readonly node: Peer;
  readonly asked: LineRequest[];
  /** Lines of the audit log: operation, then outcome. */
  readonly audit: string[];
}

/** One end, and the frames that came there. */
class Peer {
  readonly frames: unknown[] = [];
  readonly bytes: Buffer[] = [];
  closed: { readonly code: number; readonly reason: string } | null = null;
  readonly webSocket: WebSocket;

  constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    webSocket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.bytes.push(data);
      else this.frames.push(JSON.parse(data.toString()));
    });
    webSocket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
  }

  send(frame: object): void {
    this.webSocket.send(JSON.stringify(frame));
  }

  async sees(frame: object): Promise<void> {
    await expect.poll(() => this.frames).toContainEqual(expect.objectContaining(frame));
  }

  /** Whatever was on its way is there. */
  async settled(): Promise<void> {
    const heard = new Promise<void>((resolve) => this.webSocket.once('pong', () => resolve()));
    this.webSocket.ping();
    await heard;
  }
}

let sockets: TestSockets;
beforeEach(() => {
  sockets = new TestSockets();
});
afterEach(() => sockets.close());

async function open(
  role: HubRole,
  {
    scope = null,
    connect,
    auditFault,
    parted = new PartedBudget(),
    partedMs = 20_000,
    listed = () => Promise.resolve([]),
    isHeardOf = () => true,
  }: {
    scope?: HubScope | null;
    connect?: () => Promise<NodeLine>;
    auditFault?: FailureError;
    parted?: PartedBudget;
    partedMs?: number;
    /** Sessions as the node tells the hub. */
    listed?: () => Promise<readonly Partial<HubSession>[]>;
    /** Whether the hub has a line of its own. */
    isHeardOf?: () => boolean;
  } = {},
): Promise<Relayed> {
  const clientSide = await sockets.pair();
  const nodeSide = await sockets.pair();
  const client = new Peer(clientSide.far);
  const node = new Peer(nodeSide.far);
  const asked: LineRequest[] = [];
  const audit: string[] = [];
  const principal: Principal = {
    kind: 'user',
    user: UserName.parse('one'),
    role,
    scope,
    credential: { kind: 'socket' },
    expiresAt: null,
  };
  const line = {
    webSocket: nodeSide.near,
    selection: { protocol: 2, capabilities: [], nonce: '0'.repeat(64), node: nodeFacts },
    ready: { kind: 'ready', connectionId: 1, sequence: 0, controller: null },
  } as unknown as NodeLine;
  const relay = new Relay({
    now: () => 0,
    parted,
    partedMs,
    watchersChanged: () => undefined,
    webSocket: clientSide.near,
    principal,
    nodeId: NODE_ID,
    audit: {
      asked: ({ operation }) => {
        if (auditFault !== undefined) throw auditFault;
        audit.push(operation);
        return (outcome) => audit.push(`${operation} ${outcome}`);
      },
    },
    placeOf: (id) => (id === SESSION ? { nodeId: NODE_ID, workspaceId: HERE } : null),
    viewOf: () => {
      if (!isHeardOf()) throw new FailureError('node-offline');
      return {
        workspaces: new Map(),
        records: new Map(),
        sessions: new Map(
          [{ id: SESSION, name: 'mine', workspaceId: HERE }, SECRET].map((session) => [
            session.id,
            session as HubSession,
          ]),
        ),
      };
    },
    ask: async ({ operation, incarnation }) => {
      expect({ operation, incarnation }).toEqual({
        operation: 'session.list',
        incarnation: nodeFacts.incarnation,
      });
      return { sessions: [SECRET, ...(await listed())], truncated: false };
    },
    connect: (request) => {
      asked.push(request);
      return connect === undefined ? Promise.resolve(line) : connect();
    },
    clientName: 'roost-hub',
    version: '0',
  });
  return { relay, client, node, asked, audit };
}

const nodeFacts = { id: NODE_ID, incarnation: '1'.repeat(16), version: '0' };

async function opened(...params: Parameters<typeof open>): Promise<Relayed> {
  const relayed = await open(...params);
  relayed.client.send(OPEN);
  await relayed.client.sees({ kind: 'opened' });
  return relayed;
}

const request = (id: number, operation: OperationName, params: object = {}) => ({
  kind: 'request',
  id,
  operation,
  params,
});

test('a line is opened as the client may use it, and frames pass as they are, both ways', async () => {
  const { client, node, asked } = await opened('observer');
  expect(asked).toEqual([
    {
      role: 'observer',
      client: { name: 'roost-hub:one', version: '0' },
      offer: { protocol: OPEN.protocol, capabilities: OPEN.capabilities },
    },
  ]);
  expect(client.frames[0]).toMatchObject({
    kind: 'opened',
    role: 'observer',
    selection: { node: nodeFacts },
  });
  const sent = { ...request(1, 'session.list'), later: 'kept' };
  client.send(sent);
  await node.sees(sent);
  node.send({ kind: 'response', id: 1, result: { anything: true } });
  await client.sees({ id: 1, result: { anything: true } });
  node.send({ kind: 'something-new' });
  await client.sees({ kind: 'something-new' });
  client.webSocket.send(Buffer.from([0, 0, 0, 1, 65]));
  node.webSocket.send(Buffer.from([0, 0, 0, 1, 66]));
  await expect.poll(() => [node.bytes.length, client.bytes.length]).toEqual([1, 1]);
});

test('what a role does not allow never reaches the node', async () => {
  const { client, node, audit } = await opened('observer');
  const denied: [OperationName, object][] = [
    ['session.stop', { workspaceId: HERE, sessionId: SESSION, generation: 1 }],
    ['workspace.register', { root: '/tmp' }],
    ['session.attach', { sessionId: SESSION, mode: 'watch' }],
    ['hub.connect', { hubId: 'a'.repeat(16), channel: '0'.repeat(32) }],
    ['node.shutdown', {}],
  ];
  for (const [index, [operation, params]] of denied.entries())
    client.send(request(index + 1, operation, params));
  for (const [index, [operation]] of denied.entries()) {
    expect(OPERATIONS[operation].name).toBe(operation);
    await client.sees({
      kind: 'failure',
      id: index + 1,
      failure: expect.objectContaining({ code: 'forbidden' }) as object,
    });
  }
  client.send({ kind: 'request', id: 90, operation: 'session.somethingNew', params: {} });
  await client.sees({ id: 90, failure: expect.objectContaining({ code: 'unknown-operation' }) as object });
  client.send(request(91, 'session.list', { nothing: 'of it' }));
  await client.sees({ id: 91, failure: expect.objectContaining({ code: 'invalid-request' }) as object });
  expect(node.frames).toEqual([]);
  expect(audit).toEqual([]);
});

test('a mutation is in the audit log before the node has it, with its outcome afterwards', async () => {
  const { client, node, audit, relay } = await opened('operator');
  client.send(request(1, 'workspace.register', { root: '/tmp' }));
  await node.sees({ id: 1 });
  expect(audit).toEqual(['workspace.register']);
  node.send({ kind: 'failure', id: 1, failure: { code: 'invalid-directory', message: '' } });
  await client.sees({ kind: 'failure', id: 1 });
  client.send(request(2, 'session.list'));
  client.send(request(3, 'workspace.register', { root: '/tmp' }));
  await node.sees({ id: 3 });
  node.send({ id: 3, result: {}, kind: 'response' });
  await client.sees({ id: 3 });
  client.send(request(4, 'workspace.register', { root: '/tmp' }));
  await node.sees({ id: 4 });
  relay.end('over');
  expect(audit).toEqual([
    'workspace.register',
    'workspace.register invalid-directory',
    'workspace.register',
    'workspace.register done',
    'workspace.register',
    'workspace.register outcome-unknown',
  ]);
});

test('what cannot be put into the audit log is not done', async () => {
  const { client, node } = await opened('operator', { auditFault: new FailureError('storage-full') });
  client.send(request(1, 'workspace.register', { root: '/tmp' }));
  await client.sees({ id: 1, failure: expect.objectContaining({ code: 'storage-full' }) as object });
  expect(node.frames).toEqual([]);
});

test('of a node that is seen in part, events and lists come without the rest', async () => {
  const { client, node } = await opened('operator', {
    scope: [{ nodeId: NODE_ID, workspaceIds: [HERE] }],
  });
  const event = (sequence: number, workspaceId: string) => ({
    kind: 'event',
    event: {
      sequence,
      incarnation: '1'.repeat(16),
      at: '2026-01-01T00:00:00.000Z',
      body: { kind: 'workspace-unregistered', workspaceId },
    },
  });
  node.send(event(1, 'elsewhere'));
  node.send(event(2, HERE));
  await client.sees({ kind: 'event', event: expect.objectContaining({ sequence: 2 }) as object });
  expect(client.frames).toHaveLength(2);
  const workspace = (id: string) => ({
    id,
    root: '/tmp',
    kind: 'plain',
    createdAt: '2026-01-01T00:00:00.000Z',
    liveSessions: 0,
  });
  client.send(request(1, 'workspace.list'));
  await node.sees({ id: 1 });
  node.send({ kind: 'response', id: 1, result: { workspaces: [workspace(HERE), workspace('elsewhere')] } });
  await client.sees({
    id: 1,
    result: { workspaces: [expect.objectContaining({ id: HERE }) as object] },
  });
  client.send(request(2, 'workspace.inspect', { workspaceId: 'elsewhere' }));
  await client.sees({ id: 2, failure: expect.objectContaining({ code: 'out-of-scope' }) as object });
  // Nobody asked for that.
  node.send({ kind: 'response', id: 77, result: { secret: true } });
  await client.settled();
  expect(JSON.stringify(client.frames)).not.toContain('secret');
});

test('of a node that is seen in part, a selector means one of the own sessions or nothing', async () => {
  const { client, node } = await opened('operator', {
    scope: [{ nodeId: NODE_ID, workspaceIds: [HERE] }],
  });
  for (const [id, selector] of ['secret', 'b'.repeat(16), 'bb', 'nothing'].entries())
    client.send(request(id, 'session.resolve', { selector }));
  await client.sees({ id: 3 });
  const refusals = client.frames.slice(1).map((frame) => (frame as { failure: Failure }).failure);
  expect(refusals.map(({ code, details }) => [code, Object.keys(details ?? {})])).toEqual(
    refusals.map(() => ['unknown-session', ['selector']]),
  );
  expect(node.frames).toEqual([]);
  client.send(request(9, 'session.resolve', { selector: 'mine' }));
  await node.sees({ id: 9, params: { selector: SESSION } });

  client.send(request(10, 'history.resolve', { selector: 'abcd' }));
  await node.sees({ id: 10 });
  const told = failure('ambiguous-history-session', { selector: 'abcd', candidates: ['abcd1'] });
  node.send({ kind: 'failure', id: 10, failure: told });
  await client.sees({ id: 10, failure: failure('unknown-history-session', { selector: 'abcd' }) });
});

test('of a node that is seen in part, what the hub has not heard of is looked for at the node, a few at once', async () => {
  let isHeardOf = true;
  const fresh = {
    id: SessionId.parse('c'.repeat(16)),
    name: SessionName.parse('fresh'),
    workspaceId: HERE,
    status: 'running' as const,
  };
  const waiting: (() => void)[] = [];
  const { client, node } = await opened('operator', {
    scope: [{ nodeId: NODE_ID, workspaceIds: [HERE] }],
    listed: () => new Promise((resolve) => waiting.push(() => resolve([fresh]))),
    isHeardOf: () => isHeardOf,
  });
  for (const id of [1, 2, 3, 4, 5]) client.send(request(id, 'session.resolve', { selector: 'fresh' }));
  // Others are not held up.
  client.send(request(6, 'session.resolve', { selector: 'mine' }));
  await node.sees({ id: 6, params: { selector: SESSION } });
  await client.sees({ id: 5, failure: expect.objectContaining({ code: 'backend-busy' }) as object });
  expect(waiting).toHaveLength(4);
  for (const goOn of waiting.splice(0)) goOn();
  for (const id of [1, 2, 3, 4]) await node.sees({ id, params: { selector: fresh.id } });
  client.send(request(7, 'session.resolve', { selector: 'fresh' }));
  await expect.poll(() => waiting.length).toBe(1);
  isHeardOf = false;
  client.send(request(8, 'session.resolve', { selector: 'mine' }));
  await client.sees({ id: 8, failure: expect.objectContaining({ code: 'node-offline' }) as object });
});

test.each([
  ['text that is no request', 'nonsense'],
  ['a second opening', JSON.stringify(OPEN)],
])('%s ends the line', async (_, text) => {
  const { client, node } = await opened('operator');
  client.webSocket.send(text);
  await expect.poll(() => client.closed?.code).toBe(1008);
  await expect.poll(() => node.closed).not.toBeNull();
});

test('requests in parts are judged whole, and bounded', async () => {
  const { client, node, audit } = await opened('operator');
  const text = JSON.stringify(request(5, 'workspace.register', { root: '/tmp' }));
  client.send({ kind: 'part', id: 5, text: text.slice(0, 20), last: false });
  client.send({ kind: 'part', id: 5, text: text.slice(20), last: true });
  await expect.poll(() => node.frames).toHaveLength(2);
  expect(node.frames.map((frame) => (frame as { text: string }).text).join('')).toBe(text);
  expect(audit).toEqual(['workspace.register']);
  client.send({ kind: 'part', id: 6, text: JSON.stringify(request(7, 'session.list')), last: true });
  await client.sees({ id: 6, failure: expect.objectContaining({ code: 'invalid-request' }) as object });
  expect(node.frames).toHaveLength(2);
});

test('a request that is never finished ends its line, and gives back what it held from the others', async () => {
  const parted = new PartedBudget();
  const { client } = await opened('operator', { parted, partedMs: 50 });
  client.send({ kind: 'part', id: 5, text: 'begun', last: false });
  await expect.poll(() => client.closed).toMatchObject({ code: 1008, reason: 'an unfinished request' });
  expect(parted.take(LONG_REQUESTS_BYTES_MAX)).toBe(true);
});

test('a node that cannot be reached is told with its reason', async () => {
  const { client } = await open('operator', {
    connect: () => Promise.reject(new FailureError('node-offline', { nodeId: NodeId.parse('b'.repeat(16)) })),
  });
  client.send(OPEN);
  await client.sees({
    kind: 'refused',
    failure: expect.objectContaining({ code: 'node-offline' }) as object,
  });
  await expect.poll(() => client.closed).not.toBeNull();
});

test('the end of either side ends the other at once, also while one is held back', async () => {
  const first = await opened('operator');
  first.client.webSocket.terminate();
  await expect.poll(() => first.node.closed).not.toBeNull();
  const second = await opened('operator');
  second.node.webSocket.terminate();
  await expect.poll(() => second.client.closed).toMatchObject({ code: 1001 });

  const third = await opened('operator');
  third.client.webSocket.pause();
  const screen = Buffer.alloc(256 * 1024);
  for (let count = 0; count < 40; count += 1) third.node.webSocket.send(screen);
  await expect.poll(() => third.node.webSocket.bufferedAmount).toBeGreaterThan(1024 * 1024);
  third.client.webSocket.terminate();
  await expect.poll(() => third.node.closed, { timeout: 20_000 }).not.toBeNull();
});

test('a client that does not read holds the node back, and gets everything once it reads', async () => {
  const { client, node } = await opened('operator');
  client.webSocket.pause();
  const count = 200;
  const chunk = 128 * 1024;
  for (let number = 0; number < count; number += 1) {
    const bytes = Buffer.alloc(chunk);
    bytes.writeUInt32BE(number, 0);
    node.webSocket.send(bytes);
  }
  // It stays with the node: what the relay and the sockets of the system take is a few MiB.
  expect(await restOf(node.webSocket)).toBeGreaterThan((count * chunk) / 3);
  client.webSocket.resume();
  await expect.poll(() => client.bytes.length, { timeout: 10_000 }).toBe(count);
  expect(client.bytes.map((bytes) => bytes.readUInt32BE(0))).toEqual([...Array(count).keys()]);
});

test('whoever asks for refusals without reading them is not read any more', async () => {
  const { client } = await opened('observer');
  client.webSocket.pause();
  const denied = JSON.stringify(request(1, 'workspace.register', { root: `/${'x'.repeat(1_000)}` }));
  for (let count = 0; count < 40_000; count += 1) client.webSocket.send(denied);
  // Of 40 MB.
  expect(await restOf(client.webSocket)).toBeGreaterThan(20 * 1024 * 1024);
});

/** Bytes that stay where they are when nothing more is taken. */
async function restOf(webSocket: WebSocket): Promise<number> {
  let before = -1;
  let same = 0;
  await expect
    .poll(
      () => {
        same = webSocket.bufferedAmount === before ? same + 1 : 0;
        before = webSocket.bufferedAmount;
        return same;
      },
      { timeout: 20_000 },
    )
    .toBeGreaterThanOrEqual(10);
  return before;
}
