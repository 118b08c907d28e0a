import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FailureError, type Request } from '@roost/protocol';
import { connectNode } from './connection.ts';
import { followEvents } from './follow-events.ts';
import { FakeNode, fakeEvent, scratchDirectory, type FakeConnection } from './testing/fake-node.ts';
import { eventually } from './testing/eventually.ts';

const client = { name: 'test', version: '0' };

/** A journal that cuts each connection after as many events as the plan says. */
function journal(length: number, cuts: number[]) {
  let subscriptions = 0;
  return (request: Request, peer: FakeConnection): void => {
    const { after } = request.params as { after: number };
    const cut = cuts[subscriptions++];
    const respond = (): void => peer.send({ kind: 'response', id: request.id, result: { last: length } });
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
      for await (const event of followEvents({ connect, after: { sequence: after }, signal: controller.signal })) {
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
      peer.send({ kind: 'response', id, result: { last: 3 } });
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
  for await (const event of followEvents({ connect, after: { sequence: 0 }, signal: new AbortController().signal })) {
    seen.push(event.sequence);
    if (event.sequence === 5) break;
  }
  expect({ seen, asked }).toEqual({ seen: [1, 3, 5], asked: [0, 4] });
  await node.close();
});

test('a node that is away for a while is waited for', async () => {
  await using scratch = await scratchDirectory();
  const socketPath = join(scratch.path, 'node.sock');
  const controller = new AbortController();
  let attempts = 0;
  const connect = () => {
    attempts++;
    return connectNode({ socketPath, client });
  };
  const stream = followEvents({ connect, after: { sequence: 0 }, signal: controller.signal });
  const first = stream.next();
  await eventually(() => attempts).toBeGreaterThan(1);
  const node = await FakeNode.listen({ socketPath, onRequest: journal(1, []) });
  expect(await first).toMatchObject({ value: { sequence: 1 } });
  const second = stream.next();
  controller.abort();
  expect(await second).toEqual({ value: undefined, done: true });
  await node.close();
});

test('a journal that is behind its reader was made anew, and is read from its beginning', async () => {
  await using scratch = await scratchDirectory();
  const socketPath = join(scratch.path, 'node.sock');
  const node = await FakeNode.listen({
    socketPath,
    onRequest: (request, peer) => {
      const { after } = request.params as { after: number };
      peer.send({ kind: 'response', id: request.id, result: { last: 2 } });
      for (let sequence = after + 1; sequence <= 2; sequence++) {
        peer.send({ kind: 'event', event: fakeEvent(sequence) });
      }
    },
  });
  const signal = new AbortController().signal;
  const seen: number[] = [];
  for await (const event of followEvents({
    connect: () => connectNode({ socketPath, client }),
    after: { sequence: 40 },
    signal,
  })) {
    seen.push(event.sequence);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual([1, 2]);
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
  for await (const event of followEvents({ connect, after: { sequence: 0 }, signal: new AbortController().signal })) {
    expect(event.sequence).toBe(last + 1);
    last = event.sequence;
    if (last % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    if (last === 5_000) break;
  }
  expect(last).toBe(5_000);
  await node.close();
});
