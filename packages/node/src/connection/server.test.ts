import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { Incarnation, NodeId, PREAUTH_CONNECTIONS_MAX, type NodeEvent } from '@roost/protocol';
import { makeOperatorToken, observerToken } from '@roost/protocol/node';
import type { Admission } from '../control/admission.ts';
import { committedEvent, type StoredEvent } from '../events/stored-event.ts';
import type { EventSource } from '../events/follower.ts';
import { failureOf, TestClient, waitFor } from '../node-for-test.ts';
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
      { path, listen: null, connectionsMax: 3, monotonicNow: () => clock.now, ...options },
      {
        admission,
        events,
        token,
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
    const socket = connect(path);
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
  });

  it('cuts off at once who comes when the line is full too', async () => {
    await start();
    const sockets: Socket[] = [];
    for (let count = 0; count < PREAUTH_CONNECTIONS_MAX + 128; count += 1) sockets.push(await silent());
    const late = await silent();
    await waitFor(() => late.closed || late.destroyed, 'the late one to be cut off');
    expect(refused('preauth-overflow')).toBeGreaterThan(0);
  });

  it('lets go of a peer that does not answer a ping, also when it has much to read', async () => {
    await start({ livenessMs: 20 });
    const polite = await client();
    const gone = await client();
    gone.socket.pause();
    await waitFor(() => refused('no-pong') === 1, 'the silent one to be cut off');
    expect(polite.socket.readyState).toBe(polite.socket.OPEN);

    const full = await client();
    void full.call('events.subscribe', { after: 0 });
    full.socket.pause();
    events.append(200_000);
    clock.now += 1;
    await waitFor(() => refused('write-deadline') + refused('no-pong') === 2, 'the full one to be cut off');
    expect(released.length).toBe(2);
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

interface TestLanes {
  followEvents(after: number): void;
}
