/** Today's client at nodes of other versions, which a test plays: it reads what it knows and leaves out the rest. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectNode, followEvents, type NodeConnection } from '@roost/client';
import type { Selection } from '@roost/protocol';
import {
  FakeNode,
  fakeEvent,
  scratchDirectory,
  type FakeNodeOptions,
} from '../../packages/client/src/testing/fake-node.ts';

const client = { name: 'test', version: '0' };
let scratch: Awaited<ReturnType<typeof scratchDirectory>>;
let node: FakeNode | undefined;
let connection: NodeConnection | undefined;

beforeEach(async () => {
  scratch = await scratchDirectory();
});
afterEach(async () => {
  connection?.close();
  await node?.close();
  [node, connection] = [undefined, undefined];
  await scratch[Symbol.asyncDispose]();
});

async function nodeWith(
  options: Omit<FakeNodeOptions, 'socketPath'>,
): Promise<() => Promise<NodeConnection>> {
  const socketPath = join(scratch.path, 'node.sock');
  node = await FakeNode.listen({ socketPath, ...options });
  return async () => (connection = await connectNode({ socketPath, client }));
}

const SESSION = {
  id: '0123456789abcdef',
  recordId: null,
  generation: 1,
  name: 'one',
  provider: 'claude',
  transport: 'pty',
  status: 'running',
  workspaceId: 'w',
  directory: '/w',
  command: ['claude'],
  keeperId: null,
  pid: 7,
  size: { columns: 80, rows: 24 },
  title: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  endedAt: null,
  exitCode: null,
  exitSignal: null,
  endReason: null,
  attachedClients: 0,
  usage: null,
};

test('a newer node may say more, everywhere, and nothing is lost of what is known', async () => {
  const connect = await nodeWith({
    select: (selection) => ({ ...selection, region: 'moon', node: { ...selection.node, build: 'x' } }),
    handshake: (frame) => ({ ...frame, more: { deep: [1] } }),
    onRequest: ({ id, operation }, peer) => {
      const say = (frame: object) => peer.send(JSON.stringify(frame));
      say({ kind: 'tide', level: 3 });
      if (operation === 'session.list') {
        const sessions = [{ ...SESSION, mood: 'calm', size: { ...SESSION.size, dpi: 2 } }];
        say({ kind: 'response', id, result: { sessions, truncated: false, next: null }, took: 1 });
        return;
      }
      say({ kind: 'response', id, result: { last: 9, floor: 1, resyncRequired: false, lag: 0 } });
      say({ kind: 'event', event: { ...fakeEvent(1), origin: 'x' }, at: 1 });
      say({ kind: 'event', event: { ...fakeEvent(2), body: { kind: 'tide-changed', level: 3 } } });
      const hibernating = { kind: 'session-changed', session: { ...SESSION, status: 'hibernating' } };
      say({ kind: 'event', event: { ...fakeEvent(3), body: hibernating } });
      const known = { kind: 'session-changed', session: { ...SESSION, mood: 'calm' } };
      say({ kind: 'event', event: { ...fakeEvent(4), body: known } });
    },
  });
  const { sessions } = await (await connect()).request('session.list', {});
  expect(sessions).toEqual([SESSION]);
  const seen: unknown[] = [];
  for await (const item of followEvents({
    connect,
    after: { sequence: 0 },
    signal: new AbortController().signal,
  })) {
    seen.push('kind' in item ? item : [item.sequence, item.body.kind]);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual([
    [1, 'node-stopped'],
    [4, 'session-changed'],
  ]);
});

test('a newer node that chose a version beyond the offer is not believed', async () => {
  const connect = await nodeWith({ select: (selection) => ({ ...selection, protocol: 3 }) });
  await expect(connect()).rejects.toMatchObject({ failure: { code: 'unsupported-protocol' } });
});

test('an older node offers less: what it lacks is refused by name, the rest works', async () => {
  const known = ['compatibility.metadata', 'event-journal-v1'];
  const connect = await nodeWith({
    select: (selection: Selection) => ({ ...selection, capabilities: known }),
    onRequest: ({ id, operation }, peer) => {
      if (operation === 'session.list')
        peer.send({ kind: 'response', id, result: { sessions: [SESSION], truncated: false } });
      else
        peer.send({
          kind: 'failure',
          id,
          failure: {
            code: operation === 'screen.watch' ? 'unsupported-capability' : 'unknown-operation',
            message: 'x',
          },
        });
    },
  });
  const opened = await connect();
  expect(opened.capabilities).toEqual(known);
  expect((await opened.request('session.list', {})).sessions).toEqual([SESSION]);
  await expect(opened.watchScreens({ sessions: 'all' }, () => undefined)).rejects.toMatchObject({
    failure: { code: 'unsupported-capability' },
  });
  await expect(opened.request('record.list', {})).rejects.toMatchObject({
    failure: { code: 'unknown-operation' },
  });
});

test.each([
  ['welcomes without a proof', { kind: 'welcome', protocol: 1, capabilities: [] }],
  ['refuses the hello', { kind: 'refused', failure: { code: 'unsupported-protocol', message: 'x' } }],
])('a node from before the handshake, which %s, is an unsupported protocol', async (_, frame) => {
  const connect = await nodeWith({ handshake: () => JSON.stringify(frame) });
  await expect(connect()).rejects.toMatchObject({ failure: { code: 'unsupported-protocol' } });
  expect(node?.received).toEqual(['hello']);
});
