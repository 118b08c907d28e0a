import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FailureError, type Request } from '@roost/protocol';
import { connectNode } from './connection.ts';
import { followState } from './follow-state.ts';
import { FakeNode, fakeEvent, scratchDirectory, type FakeConnection } from './testing/fake-node.ts';

const client = { name: 'test', version: '0' };
const INCARNATION = 'fedcba9876543210';
const workspace = (id: string) => ({
  id,
  root: `/${id}`,
  kind: 'plain',
  createdAt: '2026-01-01T00:00:00.000Z',
  liveSessions: 0,
});
const snapshot = (sequence: number, ids: string[]) => ({
  nodeId: '0123456789abcdef',
  incarnation: INCARNATION,
  sequence,
  controller: null,
  changedAfter: null,
  workspaces: ids.map(workspace),
  sessions: [],
  records: [],
  removed: { workspaces: [], sessions: [], records: [] },
  enabledProviders: [],
  launchInventory: {},
});
const registered = (sequence: number, id: string) =>
  JSON.stringify({
    kind: 'event',
    event: { ...fakeEvent(sequence), body: { kind: 'workspace-registered', workspace: workspace(id) } },
  });

test('the state is that of a snapshot with later events in it, and of a new snapshot after a loss', async () => {
  await using scratch = await scratchDirectory();
  const socketPath = join(scratch.path, 'node.sock');
  const asked: unknown[] = [];
  const script: ((request: Request, peer: FakeConnection) => void)[] = [
    ({ id }, peer) => peer.send({ kind: 'response', id, result: snapshot(5, ['a']) }),
    ({ id }, peer) => {
      peer.send({ kind: 'response', id, result: { last: 7, floor: 1, resyncRequired: false } });
      // What the snapshot holds already comes again: it changes nothing.
      for (const frame of [registered(5, 'old'), registered(6, 'b')]) peer.send(frame);
      setTimeout(() => peer.cut(), 20);
    },
    ({ id }, peer) => {
      peer.send({ kind: 'response', id, result: { last: 90, floor: 80, resyncRequired: true } });
      peer.send(JSON.stringify({ kind: 'resync-required', floor: 80, last: 90, incarnation: INCARNATION }));
    },
    ({ id }, peer) => peer.send({ kind: 'response', id, result: snapshot(91, ['c']) }),
    ({ id }, peer) => {
      peer.send({ kind: 'response', id, result: { last: 91, floor: 80, resyncRequired: false } });
      peer.send(registered(92, 'd'));
    },
  ];
  const node = await FakeNode.listen({
    socketPath,
    onRequest: (request, peer) => {
      asked.push(request.params);
      script.shift()?.(request, peer);
    },
  });
  const seen: string[] = [];
  const connect = () => connectNode({ socketPath, client });
  for await (const state of followState({ connect, signal: new AbortController().signal })) {
    seen.push(`${state.sequence} ${[...state.workspaces.keys()].join()}`);
    if (seen.length === 4) break;
  }
  expect(seen).toEqual(['5 a', '6 a,b', '91 c', '92 c,d']);
  expect(asked).toEqual([
    {},
    { after: 5, incarnation: INCARNATION },
    { after: 6, incarnation: INCARNATION },
    {},
    { after: 91, incarnation: INCARNATION },
  ]);
  await node.close();
});

test('what the first connection fails with ends it, an aborted signal ends it without a failure', async () => {
  const refused = followState({
    connect: () => Promise.reject(new FailureError('hub-unreachable')),
    signal: new AbortController().signal,
  });
  await expect(refused.next()).rejects.toMatchObject({ failure: { code: 'hub-unreachable' } });
  const controller = new AbortController();
  const waiting = followState({
    connect: () => Promise.reject(new FailureError('node-not-running')),
    signal: controller.signal,
  });
  const next = waiting.next();
  controller.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});

test('a node that is lost before it gave its snapshot is asked again, also where it is away for a while', async () => {
  await using scratch = await scratchDirectory();
  const socketPath = join(scratch.path, 'node.sock');
  let snapshots = 0;
  const node = await FakeNode.listen({
    socketPath,
    onRequest: ({ id }, peer) => {
      if (snapshots++ === 0) peer.cut();
      else peer.send({ kind: 'response', id, result: snapshot(5, ['a']) });
    },
  });
  let attempts = 0;
  const connect = () =>
    ++attempts === 2
      ? Promise.reject(new FailureError('node-not-running'))
      : connectNode({ socketPath, client });
  const states = followState({ connect, signal: new AbortController().signal });
  expect(await states.next()).toMatchObject({ value: { sequence: 5 } });
  expect(attempts).toBe(3);
  await states.return();
  await node.close();
});
