import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { REQUEST_BYTES_MAX, type Request, type SessionId } from '@roost/protocol';
import { connectNode } from './connection.ts';
import { FakeNode, fakeEvent, scratchDirectory, type FakeConnection } from './testing/fake-node.ts';
import { eventually } from './testing/eventually.ts';

const client = { name: 'test', version: '0' };
let scratch: Awaited<ReturnType<typeof scratchDirectory>>;
let socketPath: string;
let node: FakeNode | undefined;

beforeEach(async () => {
  scratch = await scratchDirectory();
  socketPath = join(scratch.path, 'node.sock');
});
afterEach(async () => {
  await node?.close();
  node = undefined;
  await scratch[Symbol.asyncDispose]();
});

async function connected(onRequest: (request: Request, connection: FakeConnection) => void) {
  node = await FakeNode.listen({ socketPath, onRequest });
  return connectNode({ socketPath, client });
}

/** Matches a failure by its code. */
const code = (value: string): unknown => expect.objectContaining({ failure: withCode(value) }) as unknown;
const withCode = (value: string): unknown => expect.objectContaining({ code: value }) as unknown;

describe('requests', () => {
  test('resolve with the result as its schema reads it, each to its own answer in any order', async () => {
    const open: Request[] = [];
    const connection = await connected((request, peer) => {
      open.push(request);
      if (open.length < 2) return;
      for (const { id, params } of open.reverse()) {
        const { waitMs } = params as { waitMs: number };
        peer.send({ kind: 'response', id, result: { stoppedSessions: waitMs, unknownField: true } });
      }
    });
    const ask = (waitMs: number) =>
      connection.request('node.shutdown', { waitMs } as unknown as { stopSessions?: boolean });
    expect(await Promise.all([ask(1), ask(2)])).toEqual([{ stoppedSessions: 1 }, { stoppedSessions: 2 }]);
    connection.close();
  });

  test('a result that its schema refuses is an internal error, not a value', async () => {
    const connection = await connected(({ id }, peer) =>
      peer.send({ kind: 'response', id, result: { stoppedSessions: 'many' } }),
    );
    await expect(connection.request('node.shutdown', {})).rejects.toEqual(code('internal-error'));
    connection.close();
  });

  test('a refusal rejects with its code and details', async () => {
    const failure = {
      code: 'ambiguous-session' as const,
      message: 'x',
      details: { candidates: ['a', 'b'] },
    };
    const connection = await connected(({ id }, peer) => peer.send({ kind: 'failure', id, failure }));
    await expect(connection.request('session.resolve', { selector: 'a' })).rejects.toMatchObject({
      failure: { code: 'ambiguous-session', details: { candidates: ['a', 'b'] } },
    });
    connection.close();
  });

  test('a deadline rejects, tells the node, and a late answer is ignored', async () => {
    let deadline: number | undefined;
    let answer = (): void => undefined;
    const connection = await connected(({ id, deadlineMs, operation }, peer) => {
      if (operation === 'workspace.list') peer.send({ kind: 'response', id, result: { workspaces: [] } });
      deadline ??= deadlineMs;
      answer = () => peer.send({ kind: 'response', id, result: { stoppedSessions: 0 } });
    });
    await expect(connection.request('node.shutdown', {}, { timeoutMs: 30 })).rejects.toEqual(
      code('request-timed-out'),
    );
    expect(deadline).toBe(30);
    answer();
    expect(await connection.request('workspace.list', {})).toEqual({ workspaces: [] });
    connection.close();
  });

  test('an aborted signal stops the waiting, before and after sending', async () => {
    const sent: string[] = [];
    const connection = await connected(({ operation }) => sent.push(operation));
    const reason = new Error('enough');
    const before = connection.request('node.status', {}, { signal: AbortSignal.abort(reason) });
    await expect(before).rejects.toBe(reason);
    const controller = new AbortController();
    const after = connection.request('node.shutdown', {}, { signal: controller.signal });
    await eventually(() => sent).toEqual(['node.shutdown']);
    controller.abort(reason);
    await expect(after).rejects.toBe(reason);
    connection.close();
  });
});

describe('the loss of the connection', () => {
  test('fails every open request and tells each listener once', async () => {
    const connection = await connected((_, peer) => peer.cut());
    let told = 0;
    connection.onClose(() => told++);
    const forget = connection.onClose(() => (told += 100));
    forget();
    const open = [connection.request('node.status', {}), connection.request('workspace.list', {})];
    const outcomes = await Promise.allSettled(open);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { failure: { code: 'connection-lost' } } });
    }
    await expect(connection.request('node.status', {})).rejects.toEqual(code('connection-lost'));
    connection.onClose(() => told++);
    expect(told).toBe(2);
  });

  test.each(['{"kind":', '"text"', '{"id":1}', '{"kind":"response","id":"one"}', '{"kind":"ready"}'])(
    'is what %s leads to',
    async (text) => {
      const connection = await connected((_, peer) => peer.send(text));
      await expect(connection.request('node.status', {})).rejects.toEqual(code('connection-lost'));
    },
  );

  test('is what a second challenge leads to', async () => {
    const connection = await connected((_, peer) => {
      peer.send({ kind: 'challenge', selection: '{}', proof: '0'.repeat(64) });
    });
    await expect(connection.request('node.status', {})).rejects.toEqual(code('connection-lost'));
  });

  test('is what an event without a place in the journal leads to', async () => {
    const connection = await connected((_, peer) => peer.send('{"kind":"event","event":{"body":{}}}'));
    await expect(connection.request('node.status', {})).rejects.toEqual(code('connection-lost'));
  });
});

describe('a newer node', () => {
  test('may send frames of other kinds and more fields: they are left out', async () => {
    const connection = await connected(({ id }, peer) => {
      peer.send('{"kind":"moon-phase","id":1,"phase":"full"}');
      peer.send(JSON.stringify({ kind: 'response', id, result: { workspaces: [], more: 1 }, took: 3 }));
    });
    expect(await connection.request('workspace.list', {})).toEqual({ workspaces: [] });
    connection.close();
  });

  test('may refuse for reasons that are not known here: only that request fails', async () => {
    let refused = false;
    const connection = await connected(({ id }, peer) => {
      if (refused) peer.send({ kind: 'response', id, result: { workspaces: [] } });
      else peer.send(JSON.stringify({ kind: 'failure', id, failure: { code: 'moon-is-full' } }));
      refused = true;
    });
    await expect(connection.request('workspace.list', {})).rejects.toMatchObject({
      failure: { code: 'internal-error', details: { code: 'moon-is-full' } },
    });
    expect(await connection.request('workspace.list', {})).toEqual({ workspaces: [] });
    connection.close();
  });
});

describe('the controller lease', () => {
  const asked = async () => {
    const seen: string[] = [];
    const connection = await connected(({ id, operation, lease }, peer) => {
      seen.push(`${operation} ${lease ?? 'none'}`);
      peer.send({ kind: 'response', id, result: { controller: null } });
    });
    return { seen, connection };
  };

  test('is asked for briefly by what changes something, and by nothing else', async () => {
    const { seen, connection } = await asked();
    await connection.request('node.status', {}).catch(() => undefined);
    await connection.request('node.shutdown', {}).catch(() => undefined);
    await connection.request('node.shutdown', {}, { lease: 'held' }).catch(() => undefined);
    expect(seen).toEqual(['node.status none', 'node.shutdown brief', 'node.shutdown none']);
    connection.close();
  });

  test('is counted on from its acquisition to its release', async () => {
    const { seen, connection } = await asked();
    await connection.request('controller.acquire', {});
    await connection.request('node.shutdown', {}).catch(() => undefined);
    await connection.request('node.shutdown', {}, { lease: 'brief' }).catch(() => undefined);
    await connection.request('controller.release', {});
    await connection.request('node.shutdown', {}).catch(() => undefined);
    expect(seen.filter((one) => one.startsWith('node'))).toEqual([
      'node.shutdown none',
      'node.shutdown brief',
      'node.shutdown brief',
    ]);
    connection.close();
  });
});

test('a request longer than a frame travels in parts, and longer than a request may be not at all', async () => {
  const got: unknown[] = [];
  const connection = await connected(({ id, params }, peer) => {
    got.push(params);
    peer.send({ kind: 'response', id, result: {} });
  });
  const params = { sessionId: '0123456789abcdef' as SessionId, text: '"ä\\\u0000😀'.repeat(100_000) };
  await connection.request('session.paste', params as never).catch(() => undefined);
  expect(got).toEqual([params]);
  expect(node!.received.filter((kind) => kind === 'part').length).toBeGreaterThan(4);
  const longer = { ...params, text: 'x'.repeat(REQUEST_BYTES_MAX) };
  await expect(connection.request('session.paste', longer as never)).rejects.toEqual(code('invalid-request'));
  expect(got).toHaveLength(1);
  connection.close();
});

describe('what a node pushes', () => {
  const session = { workspaceId: 'w', sessionId: '0123456789abcdef', generation: 1 };

  test('goes to the listener of its lane', async () => {
    const connection = await connected(({ id, operation }, peer) => {
      peer.send({ kind: 'response', id, result: { offset: 0, last: 3, floor: 1, resyncRequired: true } });
      if (operation !== 'events.subscribe') return;
      const frame = { sequence: 1, size: { columns: 80, rows: 24 }, lines: ['x'], drawing: 'x', title: null };
      const screen = { ...frame, cursor: { column: 0, row: 0, visible: true }, alternateScreen: false };
      const output = { session, offset: 0, base64: 'aGk=', nextOffset: 2, ended: false };
      for (const one of [
        { kind: 'resync-required', floor: 2, last: 3, incarnation: 'fedcba9876543210' },
        { kind: 'event', event: fakeEvent(4) },
        { kind: 'screen', session, frame: screen },
        { kind: 'output', ...output, stream: 'stderr' },
        { kind: 'output', ...output, stream: 'stdout' },
      ])
        peer.send(JSON.stringify(one));
    });
    const seen: string[] = [];
    await connection.watchScreens({ sessions: 'all' }, (address, frame) =>
      seen.push(`screen ${address.sessionId} ${frame.lines.join()}`),
    );
    await connection.followOutput({ sessionId: session.sessionId, stream: 'stdout', offset: 0 }, (chunk) =>
      seen.push(`${chunk.stream} ${chunk.nextOffset}`),
    );
    await connection.subscribeEvents(
      { sequence: 0 },
      ({ sequence }) => seen.push(`event ${sequence}`),
      ({ floor, last }) => seen.push(`resync ${floor} ${last}`),
    );
    await eventually(() => seen).toEqual([
      'resync 2 3',
      'event 4',
      `screen ${session.sessionId} x`,
      'stdout 2',
    ]);
    await connection.unwatchScreens();
    connection.close();
  });
});

describe('connecting', () => {
  test('where no socket is, no node runs', async () => {
    await expect(connectNode({ socketPath, client })).rejects.toEqual(code('node-not-running'));
  });

  test('where a crash left its socket file, no node runs', async () => {
    const { spawnSync } = await import('node:child_process');
    const script = `require('net').createServer().listen(${JSON.stringify(socketPath)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', script]);
    await expect(connectNode({ socketPath, client })).rejects.toEqual(code('node-not-running'));
  });

  test('a node that accepts but says nothing is unresponsive after the time given', async () => {
    const silent = createServer().listen(socketPath);
    const began = performance.now();
    await expect(connectNode({ socketPath, client, timeoutMs: 150 })).rejects.toEqual(
      code('node-unresponsive'),
    );
    expect(performance.now() - began).toBeGreaterThan(140);
    silent.close();
  });

  test('a node that takes the upgrade but never challenges is unresponsive, too', async () => {
    node = await FakeNode.listen({ socketPath, shakesHands: false });
    await expect(connectNode({ socketPath, client, timeoutMs: 150 })).rejects.toEqual(
      code('node-unresponsive'),
    );
  });

  test('a refusal instead of a challenge is the failure', async () => {
    node = await FakeNode.listen({ socketPath, shakesHands: false });
    const attempt = connectNode({ socketPath, client });
    await eventually(() => node!.connections.size).toBe(1);
    const [peer] = node.connections;
    peer!.send({ kind: 'refused', failure: { code: 'connections-exhausted', message: 'full' } });
    await expect(attempt).rejects.toEqual(code('connections-exhausted'));
  });

  test('a path full of what a URL would read otherwise is taken as it is', async () => {
    socketPath = join(scratch.path, 'a:b%20?#ü.sock');
    node = await FakeNode.listen({ socketPath });
    const connection = await connectNode({ socketPath, client });
    expect(connection.node.version).toBe('9.9.9');
    connection.close();
  });

  test('a path that the kernel would cut is refused', async () => {
    await expect(connectNode({ socketPath: `/tmp/${'x'.repeat(120)}`, client })).rejects.toEqual(
      code('home-path-too-long'),
    );
  });

  test('what comes in one packet with ready is not lost', async () => {
    node = await FakeNode.listen({
      socketPath,
      handshake: (frame) => {
        if (frame.kind === 'ready') setImmediate(() => [...node!.connections][0]?.cut());
        return frame;
      },
    });
    const connection = await connectNode({ socketPath, client }).catch((error: unknown) => error);
    // Either the loss was seen during the handshake, or the connection knows about it.
    if (connection instanceof Error) expect(connection).toEqual(code('connection-lost'));
    else
      await new Promise<void>((resolve) => (connection as { onClose(l: () => void): void }).onClose(resolve));
  });
});
