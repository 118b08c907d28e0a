import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { FailureError, type Incarnation, type Request } from '@roost/protocol';
import { connectNode } from './connection.ts';
import { followEvents } from './follow-events.ts';
import { FakeNode, fakeEvent, scratchDirectory, type FakeConnection } from './testing/fake-node.ts';
import { eventually } from './testing/eventually.ts';

const client = { name: 'test', version: '0' };

const subscribed = (last: number) => ({ last, floor: 1, resyncRequired: false });

/** A journal that cuts each connection after as many events as the plan says. */
function journal(length: number, cuts: number[]) {
  let subscriptions = 0;
  return (request: Request, peer: FakeConnection): void => {
    const { after } = request.params as { after: number };
    const cut = cuts[subscriptions++];
    const respond = (): void => peer.send({ kind: 'response', id: request.id, result: subscribed(length) });
    // Events may come before the answer.
    if (subscriptions % 2 === 0) respond();
    for (let sequence = Math.max(1, after); sequence <= length; sequence++) {
      if (cut !== undefined && sequence > after + cut) {
        peer.cut();
        return;
      }
      // The event at `after` is sent again: whoever follows has to leave it out.
      peer.send({ kind: 'event', event: fakeEvent(sequence) });
    }
    if (subscriptions % 2 === 1) respond();
  };
}

test('every event comes once and in order, however often the connection is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(4), { maxLength: 4 }), fc.nat(3), async (cuts, after) => {
      await using scratch = await scratchDirectory();
      const socketPath = join(scratch.path, 'node.sock');
      const node = await FakeNode.listen({ socketPath, onRequest: journal(12, cuts) });
      const controller = new AbortController();
      const seen: number[] = [];
      const connect = () => connectNode({ socketPath, client });
      for await (const event of followEvents({
        connect,
        after: { sequence: after },
        signal: controller.signal,
      })) {
        if ('kind' in event) throw new Error('a resync without a loss');
        seen.push(event.sequence);
        if (event.sequence === 12) break;
      }
      await node.close();
      expect(seen).toEqual(Array.from({ length: 12 - after }, (_, index) => after + 1 + index));
    }),
    { numRuns: 12 },
  );
});

test('an event of an unknown kind is left out, its connection stays, and it is not asked for again', async () => {
  await using scratch = await scratchDirectory();
  const socketPath = join(scratch.path, 'node.sock');
  const asked: number[] = [];
  const node = await FakeNode.listen({
    socketPath,
    onRequest: ({ id, params }, peer) => {
      const { after } = params as { after: number };
      asked.push(after);
      peer.send({ kind: 'response', id, result: subscribed(3) });
      if (after === 0) peer.send({ kind: 'event', event: fakeEvent(1) });
      const body = { kind: 'moon-rose', phase: 'full' };
      peer.send(JSON.stringify({ kind: 'event', event: { ...fakeEvent(after === 0 ? 2 : 4), body } }));
      peer.send({ kind: 'event', event: fakeEvent(after === 0 ? 3 : 5) });
      if (after !== 0) return;
      peer.send(JSON.stringify({ kind: 'event', event: { ...fakeEvent(4), body } }));
      setTimeout(() => peer.cut(), 50);
    },
  });
  const seen: number[] = [];
  const connect = () => connectNode({ socketPath, client });
  for await (const event of followEvents({
    connect,
    after: { sequence: 0 },
    signal: new AbortController().signal,
  })) {
    if ('kind' in event) throw new Error('a resync without a loss');
    seen.push(event.sequence);
    if (event.sequence === 5) break;
  }
  expect({ seen, asked }).toEqual({ seen: [1, 3, 5], asked: [0, 4] });
  await node.close();
});

test('a node that goes away for a while is waited for', async () => {
  await using scratch = await scratchDirectory();
  const socketPath = join(scratch.path, 'node.sock');
  const controller = new AbortController();
  let attempts = 0;
  const connect = () => {
    attempts++;
    return connectNode({ socketPath, client });
  };
  const node = await FakeNode.listen({ socketPath, onRequest: journal(1, []) });
  const stream = followEvents({ connect, after: { sequence: 0 }, signal: controller.signal });
  expect(await stream.next()).toMatchObject({ value: { sequence: 1 } });
  const second = stream.next();
  await node.close();
  await eventually(() => attempts).toBeGreaterThan(2);
  const again = await FakeNode.listen({ socketPath, onRequest: journal(2, []) });
  expect(await second).toMatchObject({ value: { sequence: 2 } });
  const third = stream.next();
  controller.abort();
  expect(await third).toEqual({ value: undefined, done: true });
  await again.close();
});

test.each(['hub-unreachable', 'node-not-running', 'node-offline', 'shutting-down'] as const)(
  'the first connection that fails with %s is not tried again',
  async (code) => {
    const connect = vi.fn(() => Promise.reject(new FailureError(code)));
    const stream = followEvents({ connect, after: { sequence: 0 }, signal: new AbortController().signal });
    await expect(stream.next()).rejects.toMatchObject({ failure: { code } });
    expect(connect).toHaveBeenCalledTimes(1);
  },
);

test('what the journal lost is told in its place, once, and the stream goes on behind it', async () => {
  await using scratch = await scratchDirectory();
  const socketPath = join(scratch.path, 'node.sock');
  const asked: unknown[] = [];
  const node = await FakeNode.listen({
    socketPath,
    onRequest: ({ id, params }, peer) => {
      asked.push(params);
      const isFirst = asked.length === 1;
      const answer = { last: 20, floor: 15, resyncRequired: isFirst };
      peer.send({ kind: 'response', id, result: answer });
      const incarnation = 'fedcba9876543210' as Incarnation;
      if (isFirst) {
        peer.send({ kind: 'resync-required', floor: 15, last: 20, incarnation });
        setTimeout(() => peer.cut(), 20);
      } else peer.send({ kind: 'event', event: fakeEvent(21) });
    },
  });
  const seen: unknown[] = [];
  // The cursor is ahead of a journal that was made anew, or behind one that was cut: the node knows, not the client.
  const after = { sequence: 40, incarnation: '00000000000000ff' as Incarnation };
  const connect = () => connectNode({ socketPath, client });
  for await (const item of followEvents({ connect, after, signal: new AbortController().signal })) {
    seen.push('kind' in item ? item : item.sequence);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual([{ kind: 'resync', floor: 15, last: 20 }, 21]);
  expect(asked).toEqual([
    { after: 40, incarnation: '00000000000000ff' },
    { after: 20, incarnation: 'fedcba9876543210' },
  ]);
  await node.close();
});

test('a full node and one that shuts down are tried again', async () => {
  await using scratch = await scratchDirectory();
  const socketPath = join(scratch.path, 'node.sock');
  const refusals = [undefined, 'connections-exhausted', 'shutting-down'] as const;
  let attempts = 0;
  const node = await FakeNode.listen({
    socketPath,
    // The first connection is cut before it says anything.
    onRequest: journal(1, [0]),
    handshake: (frame) => {
      const code = frame.kind === 'ready' ? refusals[attempts++] : undefined;
      return code === undefined ? frame : { kind: 'refused', failure: { code, message: 'x' } };
    },
  });
  const connect = () => connectNode({ socketPath, client });
  const stream = followEvents({ connect, after: { sequence: 0 }, signal: new AbortController().signal });
  expect(await stream.next()).toMatchObject({ value: { sequence: 1 } });
  expect(attempts).toBe(4);
  await stream.return();
  await node.close();
});

test('a refused subscription ends the stream with its failure', async () => {
  await using scratch = await scratchDirectory();
  const socketPath = join(scratch.path, 'node.sock');
  const node = await FakeNode.listen({
    socketPath,
    onRequest: ({ id }, peer) =>
      peer.send({ kind: 'failure', id, failure: { code: 'unsupported-capability', message: 'x' } }),
  });
  const connect = () => connectNode({ socketPath, client });
  const stream = followEvents({ connect, after: { sequence: 0 }, signal: new AbortController().signal });
  await expect(stream.next()).rejects.toMatchObject({ failure: { code: 'unsupported-capability' } });
  await node.close();
});

test('a failure that time does not heal ends the stream', async () => {
  const connect = () => Promise.reject(new FailureError('unsupported-protocol'));
  const stream = followEvents({ connect, after: { sequence: 0 }, signal: new AbortController().signal });
  await expect(stream.next()).rejects.toMatchObject({ failure: { code: 'unsupported-protocol' } });
});

test('a reader that takes its time gets all of a long journal', async () => {
  await using scratch = await scratchDirectory();
  const socketPath = join(scratch.path, 'node.sock');
  const node = await FakeNode.listen({ socketPath, onRequest: journal(5_000, []) });
  let last = 0;
  const connect = () => connectNode({ socketPath, client });
  for await (const event of followEvents({
    connect,
    after: { sequence: 0 },
    signal: new AbortController().signal,
  })) {
    if ('kind' in event) throw new Error('a resync without a loss');
    expect(event.sequence).toBe(last + 1);
    last = event.sequence;
    if (last % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    if (last === 5_000) break;
  }
  expect(last).toBe(5_000);
  await node.close();
});

test('a slow reader holds the connection back by the bytes that wait for it as well', async () => {
  await using scratch = await scratchDirectory();
  const socketPath = join(scratch.path, 'node.sock');
  const megabyte = 'x'.repeat(1024 * 1024);
  const node = await FakeNode.listen({
    socketPath,
    onRequest: ({ id }, peer) => {
      peer.send({ kind: 'response', id, result: subscribed(20) });
      for (let sequence = 1; sequence <= 20; sequence++)
        peer.send(JSON.stringify({ kind: 'event', event: { ...fakeEvent(sequence), more: megabyte } }));
    },
  });
  const pause = vi.fn();
  const connect = async () => {
    const connection = await connectNode({ socketPath, client });
    vi.spyOn(connection, 'pause').mockImplementation(pause);
    return connection;
  };
  const stream = followEvents({ connect, after: { sequence: 0 }, signal: new AbortController().signal });
  expect(await stream.next()).toMatchObject({ value: { sequence: 1 } });
  await eventually(() => pause.mock.calls.length).toBeGreaterThan(0);
  await stream.return();
  await node.close();
});
