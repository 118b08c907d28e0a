import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import {
  addressOf,
  CLIENT_FRAME_BYTES_MAX,
  OFFERED_CAPABILITIES,
  PROTOCOL_MAX,
  PROTOCOL_MIN,
  REQUEST_BYTES_MAX,
  type NodeEvent,
} from '@roost/protocol';
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
    role: 'operator',
    nonce: '0'.repeat(64),
    protocol: { min: PROTOCOL_MIN, max: PROTOCOL_MAX },
    capabilities: ['x'],
    client: { name: 't', version: '0' },
  };
  const refusedFor = async (reason: string) =>
    (await witness.call('node.status', {})).connections.refused[reason] ?? 0;

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

  it('is cut off when it sends much before it has proved itself', async () => {
    for (const bytes of [3_000_000, 100_000]) {
      const { socket, closed } = await raw();
      socket.send('x'.repeat(bytes));
      expect([1006, 1008, 1009]).toContain(await closed);
    }
    expect(await refusedFor('frame-too-large')).toBeGreaterThan(0);
  });

  it('is cut off when it says nothing, or nothing after the challenge, and only then', async () => {
    const silent = await raw();
    const halfway = await raw();
    halfway.socket.send(JSON.stringify(hello));
    const polite = await TestClient.connect(daemon.socket);
    const never = connect(daemon.socket);
    never.on('error', () => undefined);
    const neverClosed = new Promise((resolve) => never.once('close', resolve));
    expect(await silent.closed).toBe(1006);
    expect(await halfway.closed).toBe(1006);
    expect(halfway.frames.map(({ kind }) => kind)).toEqual(['challenge']);
    await neverClosed;
    expect(polite.socket.readyState).toBe(WebSocket.OPEN);
    polite.close();
    expect(await refusedFor('handshake-timeout')).toBe(3);
  }, 20_000);

  it('is refused when it shares no protocol version', async () => {
    for (const protocol of [
      { min: PROTOCOL_MAX + 1, max: PROTOCOL_MAX + 2 },
      { min: 1, max: PROTOCOL_MIN - 1 },
    ]) {
      const { socket, frames, closed } = await raw();
      socket.send(JSON.stringify({ ...hello, protocol }));
      await closed;
      expect(frames).toMatchObject([{ kind: 'refused', failure: { code: 'unsupported-protocol' } }]);
    }
    expect(await refusedFor('protocol-mismatch')).toBe(2);
  });

  it('that has proved nothing gets no answer but the challenge', async () => {
    const { socket, frames, closed } = await raw();
    socket.send(JSON.stringify(hello));
    await waitFor(() => frames.length === 1, 'the challenge');
    socket.send(JSON.stringify({ kind: 'request', id: 1, operation: 'node.status', params: {} }));
    expect(await closed).toBe(1008);
    expect(frames[1]).toMatchObject({ kind: 'refused', failure: { code: 'invalid-request' } });
  });

  it('with a wrong proof is refused, and told no more than that', async () => {
    const wrong = `roost_operator_${'ab'.repeat(32)}`;
    expect(await failureOf(TestClient.connect(daemon.socket, { token: wrong }))).toBe('unauthorized');
    const { socket, frames, closed } = await raw();
    socket.send(JSON.stringify(hello));
    await waitFor(() => frames.length === 1, 'the challenge');
    // The node's own proof, sent back: the direction is part of a proof.
    const { proof } = frames[0] as unknown as { proof: string };
    socket.send(JSON.stringify({ kind: 'authenticate', proof }));
    expect(await closed).toBe(1008);
    expect(frames[1]).toMatchObject({ kind: 'refused', failure: { code: 'unauthorized' } });
    expect(await refusedFor('unauthorized')).toBe(2);
  });

  it('gets a failure for a frame that still has an id, and is closed for one that has none', async () => {
    const { socket, frames, closed } = await TestClient.connect(daemon.socket);
    socket.send(JSON.stringify({ kind: 'request', id: 5 }));
    await waitFor(() => frames.length === 3, 'the failure');
    expect(frames[2]).toMatchObject({ kind: 'failure', id: 5, failure: { code: 'invalid-request' } });
    socket.send('[]');
    expect(await closed).toMatchObject({ code: 1008 });
  });

  it('is closed for binary frames, and for a handshake after the handshake', async () => {
    const authenticate = JSON.stringify({ kind: 'authenticate', proof: '0'.repeat(64) });
    for (const message of [Buffer.from([1, 2, 3]), JSON.stringify(hello), authenticate]) {
      const { socket, closed } = await TestClient.connect(daemon.socket);
      socket.send(message);
      expect([1003, 1008]).toContain((await closed).code);
    }
    expect(await refusedFor('protocol-violation')).toBe(3);
  });

  it('is closed for a frame beyond the bound, and sends a long request in parts', async () => {
    const large = await TestClient.connect(daemon.socket);
    large.socket.send('x'.repeat(CLIENT_FRAME_BYTES_MAX + 1));
    expect((await large.closed).code).toBe(1009);

    const client = await TestClient.connect(daemon.socket);
    const text = JSON.stringify({
      kind: 'request',
      id: 7,
      operation: 'session.resolve',
      params: { selector: 'x'.repeat(3_000_000) },
    });
    for (let at = 0; at < text.length; at += 200_000) {
      const last = at + 200_000 >= text.length;
      client.socket.send(JSON.stringify({ kind: 'part', id: 7, text: text.slice(at, at + 200_000), last }));
    }
    await waitFor(() => client.frames.length === 3, 'the answer');
    // It was read whole: the selector is what is wrong with it.
    expect(client.frames[2]).toMatchObject({
      kind: 'failure',
      id: 7,
      failure: { code: 'invalid-request', details: { issues: [expect.stringContaining('selector')] } },
    });
    client.close();
  });

  it('is refused a long request of another id, of no JSON, or beyond the bound, and goes on', async () => {
    const client = await TestClient.connect(daemon.socket);
    const part = (id: number, text: string, last: boolean) =>
      client.socket.send(JSON.stringify({ kind: 'part', id, text, last }));
    part(1, '{"kind":"request","id":2,"operation":"node.status","params":{}}', true);
    part(3, '{"kind":', true);
    const piece = 'x'.repeat(250_000);
    for (let sent = 0; sent <= REQUEST_BYTES_MAX; sent += piece.length) part(4, piece, false);
    part(4, '', true);
    await waitFor(() => client.frames.length === 5, 'three failures');
    expect(client.frames.slice(2)).toMatchObject(
      [1, 3, 4].map((id) => ({ kind: 'failure', id, failure: { code: 'invalid-request' } })),
    );
    client.close();
  });

  it('learns which operation, capability or parameter is not there', async () => {
    const client = await TestClient.connect(daemon.socket, { capabilities: [] });
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
    const session = await witness.call('session.spawn', {
      directory: home.path,
      launch: { kind: 'command', command: ['sleep', '60'] },
    });
    const { id: sessionId } = session;
    const client = await TestClient.connect(daemon.socket);
    const waits = Array.from({ length: 256 }, () =>
      failureOf(client.call('session.wait', { sessionId, waitMs: 60_000 }, 50)),
    );
    expect(new Set(await Promise.all(waits))).toEqual(new Set(['request-timed-out']));
    expect(await failureOf(client.call('node.status', {}))).toBe('invalid-request');
    await witness.call('session.stop', { ...addressOf(session), graceMs: 0 });
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
    expect(await refusedFor('not-websocket')).toBeGreaterThan(0);
    const { _socket: inner } = upgraded.socket as unknown as { _socket: Socket };
    inner.write(Buffer.from([0xff, 0xff, 0x00, 0x01, 0x02]));
    await upgraded.closed;
  });

  it('gives the controller lease back when it ends, however it ends', async () => {
    const client = await TestClient.connect(daemon.socket, { clientName: 'short-lived' });
    await client.call('controller.acquire', { leaseMs: 60_000 });
    expect(await witness.call('controller.show', {})).toMatchObject({
      controller: { clientName: 'short-lived' },
    });
    expect(await failureOf(witness.call('controller.acquire', {}))).toBe('controller-busy');
    client.socket.terminate();
    await waitFor(
      async () => (await witness.call('controller.show', {})).controller === null,
      'the lease to be free',
    );
    const { events } = await witness.call('events.read', { after: -1 });
    expect(events[0]?.body).toEqual({ kind: 'controller-changed', controller: null, reason: 'disconnected' });
  });

  it('sees only events of what it knows', async () => {
    const capabilities = OFFERED_CAPABILITIES.filter((one) => one !== 'provider-id.open-v1');
    const client = await TestClient.connect(daemon.socket, { capabilities });
    await client.call('events.subscribe', { after: 0 });
    const session = await witness.call('session.spawn', {
      directory: home.path,
      launch: { kind: 'command', command: ['sleep', '60'] },
    });
    const { id } = await witness.call('workspace.register', { root: '/' });
    const isLast = ({ body }: NodeEvent) => body.kind === 'workspace-registered' && body.workspace.id === id;
    await waitFor(() => client.events.some(isLast), 'the last event');
    expect(new Set(client.events.map(({ body }) => body.kind))).toEqual(
      new Set(['node-started', 'workspace-registered']),
    );
    // What is hidden and what is not there get one answer.
    const stop = (sessionId: string) =>
      failureOf(client.call('session.stop', { ...addressOf(session), sessionId }));
    expect(await stop(session.id)).toBe('unsupported-capability');
    expect(await stop('0'.repeat(16))).toBe('unsupported-capability');
    client.close();
  });

  it('is refused when a web page made it, or when it means another host', async () => {
    const statusOf = (headers: Record<string, string>) =>
      new Promise((resolve) => {
        const socket = new WebSocket(`ws+unix://${daemon.socket}:/`, { headers });
        socket.on('error', () => undefined);
        socket.on('unexpected-response', (_, response) => {
          response.resume();
          resolve(response.statusCode);
        });
        socket.on('open', () => resolve('open'));
      });
    expect(await statusOf({ Origin: 'http://localhost' })).toBe(403);
    expect(await statusOf({ Host: 'evil.example' })).toBe(403);
    expect(await refusedFor('origin-refused')).toBe(1);
    expect(await refusedFor('host-refused')).toBe(1);
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
