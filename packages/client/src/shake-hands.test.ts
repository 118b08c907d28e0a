import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import type { NodeFrame, Selection } from '@roost/protocol';
import { makeOperatorToken, observerToken } from '@roost/protocol/node';
import { connectNode, type ConnectOptions } from './connection.ts';
import { FAKE_TOKEN, FakeNode, scratchDirectory, type FakeNodeOptions } from './testing/fake-node.ts';

const client = { name: 'test', version: '0' };
let scratch: Awaited<ReturnType<typeof scratchDirectory>>;
let socketPath: string;
let tokenPath: string;
let node: FakeNode | undefined;

beforeEach(async () => {
  scratch = await scratchDirectory();
  socketPath = join(scratch.path, 'node.sock');
  tokenPath = join(scratch.path, 'node.token');
});
afterEach(async () => {
  await node?.close();
  node = undefined;
  await scratch[Symbol.asyncDispose]();
});

async function listen(options: Partial<FakeNodeOptions> = {}): Promise<FakeNode> {
  node = await FakeNode.listen({ socketPath, ...options });
  return node;
}
const connect = (more: Partial<ConnectOptions> = {}) => connectNode({ socketPath, client, ...more });
const refusedWith = (code: string, details: object = {}) => ({
  failure: { code, details: expect.objectContaining(details) as unknown },
});

test('both sides prove themselves, and the connection knows who it is', async () => {
  await listen();
  const connection = await connect();
  const { connectionId, role, protocol, sequence, controller } = connection;
  expect({ connectionId, role, protocol, sequence, controller }).toEqual({
    connectionId: 1,
    role: 'operator',
    protocol: 2,
    sequence: 0,
    controller: null,
  });
  expect(connection.capabilities).toContain('event-journal-v1');
  expect(node?.received).toEqual(['hello', 'authenticate']);
  connection.close();
});

describe('the token', () => {
  test.each([
    ['an operator token for an operator', FAKE_TOKEN, 'operator'],
    ['an operator token for an observer', FAKE_TOKEN, 'observer'],
    ['an observer token for an observer', observerToken(FAKE_TOKEN), 'observer'],
  ] as const)('proves %s', async (_, token, role) => {
    await listen();
    rmSync(tokenPath);
    const connection = await connect({ token, role });
    expect(connection.role).toBe(role);
    connection.close();
  });

  test('of an observer proves no operator, and nothing is sent', async () => {
    await listen();
    await expect(connect({ token: observerToken(FAKE_TOKEN) })).rejects.toMatchObject({
      failure: { code: 'unauthorized' },
    });
    expect(node?.received).toEqual([]);
  });

  test.each([
    ['is not there', () => rmSync(tokenPath), 'ENOENT'],
    ['is empty', () => writeFileSync(tokenPath, ''), 'not a token'],
    ['holds something else', () => writeFileSync(tokenPath, 'roost_admin_00'), 'not a token'],
    ['holds more than a token', () => writeFileSync(tokenPath, `${FAKE_TOKEN} and more`), 'not a token'],
  ])('that %s makes the home unusable, and its file is named', async (_, spoil, reason) => {
    await listen();
    spoil();
    await expect(connect()).rejects.toMatchObject(refusedWith('home-unusable', { path: tokenPath, reason }));
    expect(node?.received).toEqual([]);
  });

  test.skipIf(process.getuid?.() === 0)('that may not be read makes the home unusable', async () => {
    await listen();
    chmodSync(tokenPath, 0);
    await expect(connect()).rejects.toMatchObject(refusedWith('home-unusable', { reason: 'EACCES' }));
  });

  test('is not looked for where no node runs', async () => {
    expect(existsSync(tokenPath)).toBe(false);
    await expect(connect()).rejects.toMatchObject({ failure: { code: 'node-not-running' } });
  });

  test('has to be named for a URL, and nothing is sent without one', async () => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await new Promise((resolve) => server.once('listening', resolve));
    const received: string[] = [];
    server.on('connection', (socket) => socket.on('message', () => received.push('message')));
    const { port } = server.address() as AddressInfo;
    await expect(connectNode({ url: `ws://127.0.0.1:${port}/`, client })).rejects.toMatchObject(
      refusedWith('home-unusable', { reason: 'no token was named' }),
    );
    expect(received).toEqual([]);
    server.close();
  });
});

test('what answers the upgrade with a status is no node of this protocol', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  await expect(connect()).rejects.toMatchObject(refusedWith('unsupported-protocol', { status: 403 }));
  server.close();
});

describe('a node is not trusted, and learns nothing but the hello,', () => {
  const untrusted = async (options: Partial<FakeNodeOptions>, code: string, reason: string) => {
    await listen(options);
    await expect(connect()).rejects.toMatchObject(refusedWith(code, { reason }));
    expect(node?.received).toEqual(['hello']);
  };
  const NO_TOKEN = 'the node does not hold this token';

  test('when it proves another token', () =>
    untrusted({ token: makeOperatorToken() }, 'unauthorized', NO_TOKEN));

  const challenge = (change: (frame: Extract<NodeFrame, { kind: 'challenge' }>) => NodeFrame) => ({
    handshake: (frame: NodeFrame) => (frame.kind === 'challenge' ? change(frame) : frame),
  });
  test.each([
    ['its proof is changed', challenge((one) => ({ ...one, proof: one.proof.replace(/^./, flip) }))],
    [
      'its selection is changed after the proof',
      challenge((one) => ({ ...one, selection: one.selection.replace('"protocol":2', '"protocol": 2') })),
    ],
  ])('when %s', (_, options) => untrusted(options, 'unauthorized', NO_TOKEN));

  const selecting = (change: (selection: Selection) => object) => ({
    select: (selection: Selection) => change(selection),
  });
  test.each([
    ['a protocol', selecting((one) => ({ ...one, protocol: 9 })), 'a protocol that was not offered'],
    [
      'a capability',
      selecting((one) => ({ ...one, capabilities: ['time-travel-v1'] })),
      'a capability that was not offered',
    ],
    ['nothing readable', selecting(() => ({ nonsense: 1 })), 'a selection that cannot be read'],
  ])('when it chose %s that was not offered', (_, options, reason) =>
    untrusted(options, 'unsupported-protocol', reason),
  );

  test('when it sends our own nonce back', async () => {
    await untrusted(
      { select: (selection, hello) => ({ ...selection, nonce: hello.nonce }) },
      'unsupported-protocol',
      'our own nonce',
    );
  });

  test.each([
    [
      'is ready at once',
      '{"kind":"ready","connectionId":1,"sequence":0,"controller":null}',
      'ready before its proof',
    ],
    [
      'welcomes as an older version did',
      '{"kind":"welcome","protocol":1}',
      'another frame than the handshake has',
    ],
    ['sends a megabyte', `"${'x'.repeat(1_000_000)}"`, 'another frame than the handshake has'],
    ['sends no JSON', '{', 'another frame than the handshake has'],
  ])('when it %s', (_, text, reason) => untrusted({ handshake: () => text }, 'unsupported-protocol', reason));
});

test('a second challenge ends the handshake, and is not answered', async () => {
  let first: NodeFrame | undefined;
  await listen({
    handshake: (frame) => {
      first ??= frame;
      return first;
    },
  });
  await expect(connect()).rejects.toMatchObject(
    refusedWith('unsupported-protocol', { reason: 'a second challenge' }),
  );
  expect(node?.received).toEqual(['hello', 'authenticate']);
});

test.each(['unauthorized', 'unsupported-protocol', 'connections-exhausted', 'shutting-down'] as const)(
  'a refusal with %s instead of ready is that failure',
  async (code) => {
    await listen({
      handshake: (frame) =>
        frame.kind === 'ready' ? { kind: 'refused', failure: { code, message: 'x' } } : frame,
    });
    await expect(connect()).rejects.toMatchObject({ failure: { code } });
  },
);

function flip(digit: string): string {
  return digit === '0' ? '1' : '0';
}
