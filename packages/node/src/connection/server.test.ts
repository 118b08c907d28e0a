import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect, Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pino } from 'pino';
import { Incarnation, NodeId, PREAUTH_CONNECTIONS_MAX, type NodeEvent } from '@roost/protocol';
import { makeOperatorToken, observerToken } from '@roost/protocol/node';
import type { Admission } from '../control/admission.ts';
import { committedEvent, type StoredEvent } from '../events/stored-event.ts';
import type { EventSource } from '../events/follower.ts';
import { failureOf, TestClient, waitFor } from '../node-for-test.ts';
import { PING_MS, WRITE_DEADLINE_MS } from './liveness.ts';
import { ConnectionServer, type ServerOptions } from './server.ts';

const incarnation = Incarnation.parse('00000000000000aa');

/** A journal in memory, of any length, that costs nothing. */
class Numbers implements EventSource {
  last = 0;
  floor = 1;
  readonly #listeners = new Set<() => void>();
  range() {
    return { floor: this.floor, last: this.last };
  }
  read(after: number, limit: number): StoredEvent[] {
    const count = Math.min(limit, this.last - after);
    return Array.from({ length: count }, (_, index) => {
      const event: NodeEvent = {
        sequence: after + index + 1,
        incarnation,
        at: '2026-01-02T03:04:05.000Z',
        body: { kind: 'node-stopped', incarnation },
      };
      return committedEvent(event, JSON.stringify(event.body));
    });
  }
  onAppended(listener: () => void) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  append(count: number) {
    this.last += count;
    for (const listener of this.#listeners) listener();
  }
}

describe('the place where clients come in', () => {
  let directory: string;
  let path: string;
  let server: ConnectionServer;
  let events: Numbers;
  let released: number[];
  const clock = { now: 0 };
  const token = makeOperatorToken();
  const clients: { close(): void }[] = [];

  const start = async (options: Partial<ServerOptions> = {}) => {
    const admission = {
      admit: (request: { operation: string; params: unknown }, caller: { lanes: TestLanes }) => {
        if (request.operation === 'events.subscribe') caller.lanes.followEvents(0);
        return { answer: Promise.resolve({ controller: null }), settled: Promise.resolve() };
      },
    } as unknown as Admission;
    server = new ConnectionServer(
      { path, token, listen: null, connectionsMax: 3, monotonicNow: () => clock.now, ...options },
      {
        admission,
        events,
        node: { id: NodeId.parse('00000000000000bb'), incarnation, version: '0' },
        controller: () => null,
        released: (connectionId) => released.push(connectionId),
        log: pino({ enabled: false }),
      },
    );
    await server.start();
  };
  const client = async (place = path, options = {}) => {
    const made = await TestClient.connect(place, { token, ...options });
    clients.push(made);
    return made;
  };
  const silent = async () => {
    const socket = connect(path).resume();
    socket.on('error', () => undefined);
    clients.push({ close: () => socket.destroy() });
    await new Promise((resolve) => socket.once('connect', resolve));
    return socket;
  };
  const refused = (reason: string) => server.counters.connections.refused[reason] ?? 0;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'roost-server-'));
    path = join(directory, 'node.sock');
    events = new Numbers();
    released = [];
  });
  afterEach(async () => {
    for (const one of clients.splice(0)) one.close();
    server.stopAccepting();
    await server.closeAll(300);
    rmSync(directory, { recursive: true, force: true });
  });

  it('numbers connections from 1 and tells when each ends', async () => {
    await start();
    const [one, two] = [await client(), await client()];
    expect([one.ready.connectionId, two.ready.connectionId]).toEqual([1, 2]);
    one.close();
    await waitFor(() => released.length === 1, 'the end to be told');
    expect(released).toEqual([1]);
    expect(server.counters.connections).toMatchObject({ open: 1, limit: 3, unauthenticated: 0 });
  });

  it('refuses the one beyond the limit by name, after its proof, and has room again when one leaves', async () => {
    await start();
    const [first] = [await client(), await client(), await client()];
    expect(await failureOf(client())).toBe('connections-exhausted');
    expect(await failureOf(client(path, { token: makeOperatorToken() }))).toBe('unauthorized');
    expect(refused('connections-exhausted')).toBe(1);
    first.close();
    await waitFor(() => server.counters.connections.open === 2, 'room');
    await client();
    expect(server.counters.connections.unauthenticated).toBe(0);
  });

  it('serves nobody before they prove themselves beyond its places, and the next one when a place is free', async () => {
    await start();
    const held: Socket[] = [];
    for (let count = 0; count < PREAUTH_CONNECTIONS_MAX; count += 1) held.push(await silent());
    await waitFor(
      () => server.counters.connections.unauthenticated === PREAUTH_CONNECTIONS_MAX,
      'all places to be taken',
    );
    let connected = false;
    const next = client().then(() => (connected = true));
    await silent();
    expect(server.counters.connections.unauthenticated).toBe(PREAUTH_CONNECTIONS_MAX);
    expect(connected).toBe(false);
    held[0]?.destroy();
    await next;
    expect(connected).toBe(true);
    expect(refused('preauth-evicted')).toBe(0);
  });

  it('lets nobody who says nothing keep others out for more than a moment', async () => {
    await start();
    const silents: Socket[] = [];
    for (let count = 0; count < PREAUTH_CONNECTIONS_MAX; count += 1) silents.push(await silent());
    await client();
    expect(refused('preauth-evicted')).toBe(1);
    expect(silents.filter((socket) => socket.destroyed || socket.closed).length).toBeLessThanOrEqual(1);
    expect(server.counters.connections.unauthenticated).toBe(PREAUTH_CONNECTIONS_MAX - 1);
  });

  it('cuts off at once who comes when the line is full too', async () => {
    await start();
    const sockets: Socket[] = [];
    for (let count = 0; count < PREAUTH_CONNECTIONS_MAX + 128; count += 1) sockets.push(await silent());
    const late = await silent();
    await waitFor(() => late.closed || late.destroyed, 'the late one to be cut off');
    expect(refused('preauth-overflow')).toBeGreaterThan(0);
  });

  it('lets go of a peer that does not answer a ping, and of no other', async () => {
    await start({ livenessMs: 10 });
    const polite = await client();
    const gone = await client();
    gone.socket.pause();
    const pinged = new Promise((resolve) => polite.socket.once('ping', resolve));
    clock.now += PING_MS;
    await pinged;
    await polite.call('controller.show', {});
    expect(refused('no-pong')).toBe(0);
    clock.now += PING_MS;
    await waitFor(() => refused('no-pong') === 1, 'the silent one to be cut off');
    expect(released).toEqual([2]);
    await polite.call('controller.show', {});
  });

  it('lets go of a peer that takes nothing of what waits for it, not of one that reads slowly', async () => {
    await start({ livenessMs: 10 });
    const slow = await client();
    const stuck = await client();
    for (const one of [slow, stuck]) {
      void one.call('events.subscribe', { after: 0 }).catch(() => undefined);
      one.socket.pause();
    }
    events.append(200_000);
    const looksPass = () => new Promise((resolve) => setTimeout(resolve, 50));
    for (let round = 0; round < 4; round += 1) {
      await looksPass();
      clock.now += WRITE_DEADLINE_MS - 1_000;
      const before = slow.events.length;
      slow.socket.resume();
      await waitFor(() => slow.events.length > before, 'some to be read');
      slow.socket.pause();
    }
    await waitFor(() => refused('write-deadline') === 1, 'the stuck one to be cut off');
    expect(released).toEqual([2]);
    expect(slow.socket.readyState).toBe(slow.socket.OPEN);
    expect(server.counters.connections.open).toBe(1);
  });

  it('gives a place back at the end that it decides, not when the peer agrees to it', async () => {
    await start();
    const rude = await client();
    rude.socket.send('no frame');
    rude.socket.pause();
    await waitFor(() => released.length === 1, 'the end');
    expect(server.counters.connections.open).toBe(0);
    rude.socket.resume();
    expect((await rude.closed).code).toBe(1008);
  });

  it('lets go of a client that leaves a long request unfinished, and of an observer that begins one', async () => {
    await start({ livenessMs: 10 });
    const part = JSON.stringify({ kind: 'part', id: 99, text: '{', last: false });
    const looker = await client(path, { role: 'observer' });
    looker.socket.send(part);
    expect((await looker.closed).code).toBe(1008);

    const one = await client();
    one.socket.send(part);
    await one.call('controller.show', {});
    clock.now += 19_000;
    one.socket.send(part);
    await one.call('controller.show', {});
    clock.now += 19_000;
    await one.call('controller.show', {});
    expect(refused('long-request-stalled')).toBe(0);
    clock.now += 1_000;
    await waitFor(() => refused('long-request-stalled') === 1, 'it to be let go');
  });

  it('goes on after accepting failed', async () => {
    const listen = vi.spyOn(Server.prototype, 'listen');
    await start();
    const [listener] = listen.mock.contexts as Server[];
    listen.mockRestore();
    listener?.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));
    await client();
    expect(refused('accept-error')).toBe(1);
  });

  it('keeps a place for the owner when strangers crowd the port', async () => {
    await start({ listen: { host: '127.0.0.1', port: 0 } });
    const port = Number(server.counters.listening[0]?.split(':')[1]);
    for (let count = 0; count < PREAUTH_CONNECTIONS_MAX + 10; count += 1) {
      const stranger = connect(port, '127.0.0.1');
      stranger.on('error', () => undefined);
      clients.push({ close: () => stranger.destroy() });
    }
    await waitFor(
      () => server.counters.connections.unauthenticated === PREAUTH_CONNECTIONS_MAX,
      'the port to be crowded',
    );
    await client();
  });

  it('refuses web pages and foreign host names on its port, for plain requests too', async () => {
    await start({ listen: { host: '127.0.0.1', port: 0 } });
    const [address = ''] = server.counters.listening;
    const statusOf = async (headers: Record<string, string>, upgrade: boolean) => {
      const [host, port] = address.split(':');
      const asked = request({
        host,
        port,
        headers: upgrade ? { ...headers, ...UPGRADE_HEADERS } : headers,
      });
      const [response] = (await once(asked.end(), 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    for (const upgrade of [false, true]) {
      expect(await statusOf({ Origin: `http://${address}` }, upgrade)).toBe(403);
      expect(await statusOf({ Host: 'evil.example' }, upgrade)).toBe(403);
      expect(await statusOf({ Host: '127.0.0.1.evil.example:80' }, upgrade)).toBe(403);
    }
    expect(await statusOf({}, false)).toBe(426);
    expect(server.counters.connections.refused).toMatchObject({ 'origin-refused': 2, 'host-refused': 4 });
  });

  it('stops at once, whoever still waits for a place or says nothing', async () => {
    await start();
    const sockets: Socket[] = [];
    for (let count = 0; count < PREAUTH_CONNECTIONS_MAX + 5; count += 1) sockets.push(await silent());
    await waitFor(
      () => server.counters.connections.unauthenticated === PREAUTH_CONNECTIONS_MAX,
      'all places to be taken',
    );
    server.stopAccepting();
    await waitFor(() => sockets.every((socket) => socket.destroyed), 'all to be let go', 1_000);
  });

  it('answers requests while it streams events to the same connection, and streams them all in order', async () => {
    events.append(100_000);
    await start();
    const one = await client();
    void one.call('events.subscribe', { after: 0 });
    await waitFor(() => one.events.length > 100, 'the stream to begin');
    const answers: number[] = [];
    for (let count = 0; count < 20; count += 1) {
      await one.call('controller.show', {});
      answers.push(one.events.length);
    }
    // Twenty questions were answered long before the stream was over.
    expect(answers.at(-1)).toBeLessThan(100_000);
    await waitFor(() => one.events.length === 100_000, 'all events', 30_000);
    expect(one.events.every(({ sequence }, index) => sequence === index + 1)).toBe(true);
  });

  it('tells a reader that the journal overtook, once, and goes on with what comes after', async () => {
    events.append(10);
    await start();
    const one = await client();
    void one.call('events.subscribe', { after: 0 });
    await waitFor(() => one.events.length === 10, 'the first events');
    events.last = 5_000;
    events.floor = 4_000;
    events.append(1);
    const resyncs = () => one.frames.filter(({ kind }) => kind === 'resync-required');
    await waitFor(() => resyncs().length === 1, 'the word about it');
    expect(resyncs()).toEqual([{ kind: 'resync-required', floor: 4_000, last: 5_001, incarnation }]);
    events.append(2);
    await waitFor(() => one.events.length === 12, 'what comes after');
    expect(one.events.slice(10).map(({ sequence }) => sequence)).toEqual([5_002, 5_003]);
  });

  it('holds nothing for a reader that does not read, and it misses nothing later', async () => {
    await start({ livenessMs: 3_600_000 });
    const slow = await client();
    void slow.call('events.subscribe', { after: 0 });
    slow.socket.pause();
    events.append(200_000);
    const fast = await client();
    void fast.call('events.subscribe', { after: 0 });
    await waitFor(() => fast.events.length === 200_000, 'the fast one to have all', 30_000);
    slow.socket.resume();
    await waitFor(() => slow.events.length === 200_000, 'the slow one to have all', 30_000);
    expect(slow.events.every(({ sequence }, index) => sequence === index + 1)).toBe(true);
  });

  it('listens on a loopback port too, with the same proof, when it is told to', async () => {
    await start({ listen: { host: '127.0.0.1', port: 0 } });
    const [address = ''] = server.counters.listening;
    expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
    await client(address);
    expect(await failureOf(client(address, { token: makeOperatorToken() }))).toBe('unauthorized');
    const observer = await client(address, { token: observerToken(token), role: 'observer' });
    expect(observer.ready.connectionId).toBe(2);
  });
});

const UPGRADE_HEADERS = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

interface TestLanes {
  followEvents(after: number): void;
}
