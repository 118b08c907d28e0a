import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HubEventMessage, HubScope, NodeName, UserName, type HubEvent } from '@roost/protocol';
import { LOCAL } from '../access/authenticate.ts';
import { MemoryFleet } from '../fleet/fleet-for-test.ts';
import { NODE_A, NODE_B, opening, TestHub, until } from '../hub-for-test.ts';
import { EventFeed, FEED_BUFFER_BYTES_MAX, FEED_STALLED_MS } from './event-feed.ts';
import { LINES_OF_ONE_MAX } from './open-lines.ts';

let hub: TestHub;
let token: string;
let streams: ClientRequest[];
beforeEach(async () => {
  hub = await TestHub.start();
  token = hub.token('ann', 'observer');
  streams = [];
});
afterEach(async () => {
  for (const stream of streams) stream.destroy();
  await hub.stop();
});

interface Stream {
  readonly response: IncomingMessage;
  /** Everything that came. */
  readonly text: () => string;
  readonly isClosed: () => boolean;
}

function stream(path: string, headers: Record<string, string> = {}): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const asking = request({
      host: '127.0.0.1',
      port: hub.port,
      path,
      agent: false,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    streams.push(asking);
    asking.on('error', reject);
    asking.on('response', (response) => {
      let text = '';
      let isClosed = false;
      response.on('data', (part: Buffer) => (text += part.toString()));
      response.on('close', () => (isClosed = true));
      response.on('error', () => undefined);
      resolve({ response, text: () => text, isClosed: () => isClosed });
    });
    asking.end();
  });
}

const lastId = () => `${hub.fleet.run}-${hub.fleet.cursor().id}`;

describe('the event stream', () => {
  it('begins with a cursor, and tells each event once with its own', async () => {
    const begin = lastId();
    const { response, text } = await stream('/api/v1/events');
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
    expect(response.headers['x-request-id']).toMatch(/^[0-9a-f]{16}$/);
    await until(() => text().includes(`id: ${begin}\nevent: alive\n`), 'the beginning');
    const event = hub.fleet.tell(NODE_A, { kind: 'node-stopped' });
    await until(() => text().includes(`id: ${lastId()}\ndata: ${JSON.stringify(event)}\n\n`), 'the event');
  });

  it('goes on after a cursor of the address, or of a browser that comes back', async () => {
    const cursor = lastId();
    hub.fleet.tell(NODE_A, { kind: 'node-stopped' });
    const end = lastId();
    for (const asked of [
      stream(`/api/v1/events?after=${cursor}`),
      stream('/api/v1/events', { 'last-event-id': cursor }),
    ]) {
      const { text } = await asked;
      await until(() => text().startsWith(`id: ${end}\ndata: {`), 'what was missed');
    }
  });

  it('says at first when a cursor cannot be continued', async () => {
    for (const cursor of [`${'0'.repeat(16)}-1`, `${hub.fleet.run}-999`]) {
      const { text } = await stream(`/api/v1/events?after=${cursor}`);
      await until(() => text().startsWith(`id: ${lastId()}\nevent: resync\n`), 'resync');
    }
    for (const cursor of ['x', '', '0-0', `${hub.fleet.run}-1-1`])
      expect((await hub.ask('GET', `/api/v1/events?after=${cursor}`, { token })).status).toBe(400);
  });

  it('tells only what lies within the scope, and counts only that', async () => {
    hub.fleet.putSession(NODE_A, { id: '1'.repeat(16), workspaceId: 'own' });
    const scope = HubScope.parse([{ nodeId: NODE_A, workspaceIds: ['own'] }]);
    token = hub.token('bob', 'observer', scope);
    const { text } = await stream('/api/v1/events');
    hub.fleet.put({ id: NODE_B, name: NodeName.parse('beta') });
    hub.fleet.putSession(NODE_A, { id: '2'.repeat(16), workspaceId: 'foreign' });
    hub.fleet.put({ id: NODE_A, name: NodeName.parse('alpha'), sessions: { live: 2, blocked: 1 } });
    hub.fleet.putSession(NODE_A, { id: '1'.repeat(16), workspaceId: 'own', name: 'mine' as never });
    await until(() => text().includes('"mine"'), 'their own session');
    expect(text()).not.toContain('beta');
    expect(text()).not.toContain('foreign');
    expect(text()).toContain('"sessions":{"live":1,"blocked":0}');
  });

  it('ends when what it was opened with ends, and for nobody is opened', async () => {
    const ann = await stream('/api/v1/events');
    hub.hub.access.accounts.change({ name: UserName.parse('ann'), role: 'observer' });
    const [mine] = hub.hub.access.tokens.list(UserName.parse('ann'));
    expect(ann.isClosed()).toBe(false);
    hub.hub.access.tokens.revoke(mine!.id, null);
    await until(ann.isClosed, 'the end of the stream');
    expect(hub.fleet.listeners).toBe(1);
    expect((await hub.ask('GET', '/api/v1/events', { token })).status).toBe(401);
    expect((await hub.ask('GET', '/api/v1/events')).status).toBe(401);
  });

  it('ends when its user may something else, to be opened anew', async () => {
    const ann = await stream('/api/v1/events');
    hub.hub.access.accounts.change({ name: UserName.parse('ann'), scope: [] });
    await until(ann.isClosed, 'the end of the stream');
  });

  it('ends with the hub', async () => {
    const ann = await stream('/api/v1/events');
    await hub.hub.stop();
    await until(ann.isClosed, 'the end of the stream');
  });

  it('is no more than some at once of one credential', async () => {
    const open = await Promise.all(Array.from({ length: LINES_OF_ONE_MAX }, () => stream('/api/v1/events')));
    expect(open.every(({ response }) => response.statusCode === 200)).toBe(true);
    expect((await hub.ask('GET', '/api/v1/events', { token })).status).toBe(503);
    streams.shift()?.destroy();
    await until(() => hub.fleet.listeners === LINES_OF_ONE_MAX, 'a free place');
    expect((await stream('/api/v1/events')).response.statusCode).toBe(200);
  });
});

describe('events over a WebSocket', () => {
  it('are the same as JSON', async () => {
    const webSocket = hub.open('/api/v1/events/ws', { token });
    const messages: HubEventMessage[] = [];
    webSocket.on('message', (data: Buffer) =>
      messages.push(HubEventMessage.parse(JSON.parse(data.toString()))),
    );
    expect(await opening(webSocket)).toBe(101);
    await until(() => messages.length === 1, 'the beginning');
    expect(messages[0]).toEqual({ kind: 'alive', cursor: lastId() });
    const event = hub.fleet.tell(NODE_A, { kind: 'node-stopped' });
    await until(() => messages.length === 2, 'the event');
    expect(messages[1]).toEqual({ kind: 'event', cursor: lastId(), event });
  });

  it('are closed when their token is revoked, and when the client talks', async () => {
    for (const end of ['revoke', 'talk'] as const) {
      const mine = hub.token(end, 'observer');
      const webSocket = hub.open('/api/v1/events/ws', { token: mine });
      await opening(webSocket);
      let code = 0;
      webSocket.on('close', (closed) => (code = closed));
      if (end === 'talk') webSocket.send('hello');
      else hub.hub.access.tokens.revoke(hub.hub.access.tokens.list(UserName.parse(end))[0]!.id, null);
      await until(() => code === 1008, 'the end');
    }
  });

  it('with a cookie are for our own page only', async () => {
    const cookie = await hub.cookie('ann');
    expect(await opening(hub.open('/api/v1/events/ws', { headers: { cookie, origin: hub.hub.url } }))).toBe(
      101,
    );
    for (const origin of ['https://evil.example', 'null', undefined])
      expect(
        await opening(
          hub.open('/api/v1/events/ws', { headers: { cookie, ...(origin === undefined ? {} : { origin }) } }),
        ),
      ).toBe(403);
    expect(
      await opening(
        hub.open('/api/v1/events/ws', { headers: { cookie, origin: hub.hub.url, host: 'evil.example' } }),
      ),
    ).toBe(403);
    expect(await opening(hub.open('/api/v1/events/ws'))).toBe(401);
    expect(await opening(hub.open(`/api/v1/events/ws?token=${token}`))).toBe(400);
    expect(await opening(hub.open('/api/v1/events/ws?after=x', { token }))).toBe(400);
  });
});

describe('a feed', () => {
  const setUp = (eventsMax = 1_000) => {
    const fleet = new MemoryFleet(eventsMax);
    fleet.put({ id: NODE_A, name: NodeName.parse('alpha') });
    const sent: HubEventMessage[] = [];
    const sink = { send: (message: HubEventMessage) => void sent.push(message), bufferedBytes: 0 };
    let now = 0;
    const feed = new EventFeed({ fleet, principal: LOCAL, monotonicNow: () => now }, fleet.cursor(), sink);
    const tell = (): HubEvent => fleet.tell(NODE_A, { kind: 'node-stopped' });
    return { fleet, feed, sink, sent, tell, pass: (milliseconds: number) => (now += milliseconds) };
  };

  it('keeps nothing for a client that does not read, and goes on where it was', () => {
    const { feed, sink, sent, tell } = setUp();
    sink.bufferedBytes = FEED_BUFFER_BYTES_MAX + 1;
    const events = Array.from({ length: 10 }, tell);
    expect(sent).toHaveLength(1);
    sink.bufferedBytes = 0;
    feed.drained();
    expect(sent.map((one) => one.kind === 'event' && one.event)).toEqual(events);
  });

  it('tells a client that read too late to read anew', () => {
    const { fleet, feed, sink, sent, tell } = setUp(5);
    sink.bufferedBytes = FEED_BUFFER_BYTES_MAX + 1;
    for (let count = 0; count < 20; count += 1) tell();
    sink.bufferedBytes = 0;
    feed.drained();
    expect(sent.slice(1)).toEqual([{ kind: 'resync', cursor: `${fleet.run}-${fleet.cursor().id}` }]);
    const event = tell();
    expect(sent.at(-1)).toMatchObject({ kind: 'event', event });
  });

  it('cuts off a client that reads nothing for long', () => {
    const { feed, sink, tell, pass } = setUp();
    sink.bufferedBytes = FEED_BUFFER_BYTES_MAX + 1;
    tell();
    pass(FEED_STALLED_MS);
    expect(feed.isStalled).toBe(false);
    pass(1);
    expect(feed.isStalled).toBe(true);
  });
});
