import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';

describe('a connection', () => {
  let home: TestHome;
  let daemon: Daemon;
  let witness: TestClient;

  const raw = async () => {
    const socket = new WebSocket(`ws+unix://${daemon.socket}:/`, { perMessageDeflate: false });
    const frames: { kind: string; id?: number; failure?: { code: string } }[] = [];
    socket.on('message', (data: Buffer) =>
      frames.push(JSON.parse(data.toString()) as (typeof frames)[number]),
    );
    socket.on('error', () => undefined);
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    await new Promise((resolve) => socket.once('open', resolve));
    return { socket, frames, closed };
  };
  const hello = {
    kind: 'hello',
    protocol: { min: 1, max: 1 },
    capabilities: ['x'],
    client: { name: 't', version: '0' },
  };

  beforeEach(async () => {
    home = new TestHome();
    daemon = await startTestNode(home);
    witness = await TestClient.connect(daemon.socket);
  });
  afterEach(async () => {
    // Whatever was done to other connections: this one serves on.
    await witness.call('node.status', {});
    witness.close();
    await daemon.stop();
    await home.remove();
  });

  it.each([
    ['no JSON', 'garbage'],
    ['no frame', '{"kind":"nothing"}'],
    ['a request before hello', '{"kind":"request","id":1,"operation":"node.status","params":{}}'],
    ['a hello that is too big', JSON.stringify({ ...hello, more: 'x'.repeat(9_000) })],
  ])('is refused and closed when it begins with %s', async (_, text) => {
    const { socket, frames, closed } = await raw();
    socket.send(text);
    expect(await closed).toBe(1008);
    expect(frames).toMatchObject([{ kind: 'refused', failure: { code: 'invalid-request' } }]);
  });

  it('is cut off when it sends much before hello', async () => {
    const { socket, closed } = await raw();
    socket.send('x'.repeat(3_000_000));
    expect(await closed).toBe(1006);
  });

  it('is cut off when it never says hello, and only then', async () => {
    const silent = await raw();
    const polite = await raw();
    polite.socket.send(JSON.stringify(hello));
    expect(await silent.closed).toBe(1006);
    expect(polite.socket.readyState).toBe(WebSocket.OPEN);
    polite.socket.close();
  });

  it('is refused when it shares no protocol version', async () => {
    const { socket, frames, closed } = await raw();
    socket.send(JSON.stringify({ ...hello, protocol: { min: 7, max: 9 } }));
    await closed;
    expect(frames).toMatchObject([{ kind: 'refused', failure: { code: 'unsupported-protocol' } }]);
  });

  it('gets a failure for a frame that still has an id, and is closed for one that has none', async () => {
    const { socket, frames, closed } = await raw();
    socket.send(JSON.stringify(hello));
    socket.send(JSON.stringify({ kind: 'request', id: 5 }));
    await waitFor(() => frames.length === 2, 'the failure');
    expect(frames[1]).toMatchObject({ kind: 'failure', id: 5, failure: { code: 'invalid-request' } });
    socket.send('[]');
    expect(await closed).toBe(1008);
  });

  it('is closed for binary frames and for a second hello', async () => {
    for (const message of [Buffer.from([1, 2, 3]), JSON.stringify(hello)]) {
      const { socket, closed } = await raw();
      socket.send(JSON.stringify(hello));
      socket.send(message);
      expect([1003, 1008]).toContain(await closed);
    }
  });

  it('learns which operation, capability or parameter is not there', async () => {
    const client = await TestClient.connect(daemon.socket, []);
    expect(await failureOf(client.call('node.explode' as 'node.status', {}))).toBe('unknown-operation');
    expect(await failureOf(client.call('events.read', {}))).toBe('unsupported-capability');
    expect(await failureOf(client.call('session.list', { nonsense: 1 } as object))).toBe('invalid-request');
    client.close();
  });

  it('gets an answer at its deadline, though the work goes on', async () => {
    const session = await witness.call('session.spawn', {
      directory: home.path,
      launch: { kind: 'command', command: ['sleep', '60'] },
    });
    const wait = witness.call('session.wait', { sessionId: session.id, waitMs: 60_000 }, 100);
    expect(await failureOf(wait)).toBe('request-timed-out');
  });

  it('cannot hold more work than it may by deadlines that pass before the work is done', async () => {
    const { id: sessionId } = await witness.call('session.spawn', {
      directory: home.path,
      launch: { kind: 'command', command: ['sleep', '60'] },
    });
    const client = await TestClient.connect(daemon.socket);
    const waits = Array.from({ length: 256 }, () =>
      failureOf(client.call('session.wait', { sessionId, waitMs: 60_000 }, 50)),
    );
    expect(new Set(await Promise.all(waits))).toEqual(new Set(['request-timed-out']));
    expect(await failureOf(client.call('node.status', {}))).toBe('invalid-request');
    await witness.call('session.stop', { sessionId, graceMs: 0 });
    await waitFor(
      () =>
        client.call('node.status', {}).then(
          () => true,
          () => false,
        ),
      'the work to settle',
    );
    client.close();
  });

  it('hears every event after a sequence, old ones and new ones', async () => {
    const client = await TestClient.connect(daemon.socket);
    await client.call('events.subscribe', { after: 0 });
    const { id } = await client.call('workspace.register', { root: home.path });
    await client.call('workspace.unregister', { workspaceId: id });
    await waitFor(() => client.events.length >= 3, 'three events');
    expect(client.events.map(({ body }) => body.kind)).toEqual([
      'node-started',
      'workspace-registered',
      'workspace-unregistered',
    ]);
    expect(client.events.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    const last = await client.call('events.read', { after: -1 });
    expect(last.events.map(({ sequence }) => sequence)).toEqual([3]);
    client.close();
  });

  it('is told 426 when it speaks plain HTTP', async () => {
    const status = await new Promise((resolve, reject) => {
      request({ socketPath: daemon.socket, path: '/' }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(426);
  });

  it('ends alone when it sends garbage instead of HTTP or WebSocket frames', async () => {
    const socket: Socket = connect(daemon.socket);
    socket.on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(Buffer.alloc(100_000, 0xff));
    await closed;
    const upgraded = await raw();
    upgraded.socket.on('open', () => undefined);
    const { _socket: inner } = upgraded.socket as unknown as { _socket: Socket };
    inner.write(Buffer.from([0xff, 0xff, 0x00, 0x01, 0x02]));
    await upgraded.closed;
  });

  it('delays nobody else when it asks much and reads nothing', async () => {
    const client = await TestClient.connect(daemon.socket);
    client.socket.pause();
    const root = home.path;
    for (let number = 0; number < 400; number += 1)
      void client.call('events.read', {}).catch(() => undefined);
    expect(await witness.call('workspace.register', { root })).toMatchObject({
      root: expect.any(String) as string,
    });
    client.socket.resume();
    client.close();
  });
});
