import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HubScope, UserName } from '@roost/protocol';
import { NODE_A, NODE_B, opening, TestHub, until } from '../hub-for-test.ts';
import { CALLS_OF_NODE_MAX } from './call-home-slots.ts';
import { LINES_OF_ONE_MAX } from './open-lines.ts';

let hub: TestHub;
beforeEach(async () => {
  hub = await TestHub.start();
});
afterEach(() => hub.stop());

describe('a line to a node', () => {
  it('is handed over with who asks, by name or id of the node', async () => {
    const token = hub.token('ann', 'operator');
    for (const node of ['alpha', NODE_A, NODE_A.slice(0, 5)])
      expect(await opening(hub.open(`/api/v1/nodes/${node}/connect`, { token }))).toBe(101);
    expect(hub.fleet.relays).toHaveLength(3);
    expect(hub.fleet.relays[0]).toMatchObject({
      nodeId: NODE_A,
      principal: { user: 'ann', role: 'operator' },
    });
  });

  it('is refused as an answer that says why', async () => {
    const scoped = hub.token('bob', 'operator', HubScope.parse([{ nodeId: NODE_B }]));
    const token = hub.token('ann', 'operator');
    expect(await opening(hub.open('/api/v1/nodes/alpha/connect'))).toBe(401);
    expect(await opening(hub.open('/api/v1/nodes/alpha/connect', { token: scoped }))).toBe(403);
    expect(await opening(hub.open('/api/v1/nodes/gamma/connect', { token: scoped }))).toBe(403);
    expect(await opening(hub.open('/api/v1/nodes/gamma/connect', { token }))).toBe(404);
    expect(await opening(hub.open('/api/v1/nodes/%ff/connect', { token }))).toBe(400);
    expect(await opening(hub.open('/api/v1/elsewhere', { token }))).toBe(404);
    expect(
      await opening(
        hub.open('/api/v1/nodes/alpha/connect', { token, headers: { origin: 'https://evil.example' } }),
      ),
    ).toBe(403);
    expect(hub.fleet.relays).toEqual([]);
  });

  it('has its mutations in the audit log, each with an id of its own', async () => {
    const token = hub.token('ann', 'operator');
    await opening(hub.open('/api/v1/nodes/alpha/connect', { token }));
    const { audit } = hub.fleet.relays[0]!;
    audit.asked({ operation: 'session.stop', params: { sessionId: '1'.repeat(16), text: 'private' } })(
      'done',
    );
    audit.asked({ operation: 'session.stop', params: {} })('nonsense');
    const { json } = await hub.ask('GET', '/api/v1/audit?actor=ann', { isLocal: true });
    const { entries } = json as { entries: { requestId: string; outcome: string | null; target: object }[] };
    expect(entries.map(({ outcome }) => outcome)).toEqual(['internal-error', null, 'done', null]);
    expect(entries[3]).toMatchObject({
      nodeId: NODE_A,
      operation: 'session.stop',
      target: { sessionId: '1'.repeat(16) },
    });
    expect(entries[3]!.requestId).toBe(entries[2]!.requestId);
    expect(entries[3]!.requestId).not.toBe(entries[1]!.requestId);
    expect(JSON.stringify(entries)).not.toContain('private');
  });

  it('is closed when its user is shut out', async () => {
    const token = hub.token('ann', 'operator');
    const webSocket = hub.open('/api/v1/nodes/alpha/connect', { token });
    await opening(webSocket);
    let code = 0;
    webSocket.on('close', (closed) => (code = closed));
    hub.hub.access.accounts.change({ name: UserName.parse('ann'), disabled: true });
    await until(() => code === 1008, 'the end of the line');
  });
});

describe('a node that calls home', () => {
  const call = (headers: Record<string, string>) => opening(hub.open('/api/v1/call-home', { headers }));

  it('is handed over when it is one of those that call', async () => {
    const channel = '0'.repeat(32);
    expect(await call({ 'x-roost-node': NODE_B })).toBe(101);
    expect(await call({ 'x-roost-node': NODE_B, 'x-roost-channel': channel })).toBe(101);
    expect(hub.fleet.calls).toMatchObject([
      { nodeId: NODE_B, channel: null },
      { nodeId: NODE_B, channel },
    ]);
  });

  it('is refused when nobody knows it, it is dialled, or a page calls in its name', async () => {
    expect(await call({})).toBe(400);
    expect(await call({ 'x-roost-node': 'x' })).toBe(400);
    expect(await call({ 'x-roost-node': NODE_B, 'x-roost-channel': 'x' })).toBe(400);
    expect(await call({ 'x-roost-node': 'c'.repeat(16) })).toBe(404);
    expect(await call({ 'x-roost-node': NODE_A })).toBe(404);
    expect(await call({ 'x-roost-node': NODE_B, origin: hub.hub.url })).toBe(403);
    expect(hub.fleet.calls).toEqual([]);
  });

  it('has so many calls that are not proved, and gets its place back when one ends', async () => {
    const first = hub.open('/api/v1/call-home', { headers: { 'x-roost-node': NODE_B } });
    expect(await opening(first)).toBe(101);
    const others = Array.from({ length: CALLS_OF_NODE_MAX - 1 }, () => call({ 'x-roost-node': NODE_B }));
    expect(new Set(await Promise.all(others))).toEqual(new Set([101]));
    expect(await call({ 'x-roost-node': NODE_B })).toBe(503);
    const closed = until(
      () => hub.fleet.calls.some(({ webSocket }) => webSocket.readyState === webSocket.CLOSED),
      'the end',
    );
    first.close();
    await closed;
    expect(await call({ 'x-roost-node': NODE_B })).toBe(101);
  });
});

describe('a page of another site', () => {
  const paths = ['/api/v1/events/ws', '/api/v1/nodes/alpha/connect', '/api/v1/call-home'];

  it.each(paths)('opens no WebSocket at %s, whatever it comes with', async (path) => {
    const token = hub.token('ann', 'admin');
    const cookie = await hub.cookie('ann');
    const node = { 'x-roost-node': NODE_B };
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1'])
      for (const credential of [{ token }, { headers: { cookie } }, {}])
        expect(
          await opening(
            hub.open(path, { ...credential, headers: { ...credential.headers, ...node, origin } }),
          ),
        ).toBe(403);
    // By a name of its own that leads to this machine.
    const host = { ...node, host: 'evil.example', origin: 'http://evil.example' };
    for (const credential of [{ token }, { headers: { cookie } }])
      expect(
        await opening(hub.open(path, { ...credential, headers: { ...credential.headers, ...host } })),
      ).toBe(403);
    expect(hub.fleet.relays).toEqual([]);
    expect(hub.fleet.calls).toEqual([]);
  });

  it.each(paths.slice(0, 2))('opens none at %s with a cookie and no Origin either', async (path) => {
    hub.token('ann', 'operator');
    const cookie = await hub.cookie('ann');
    expect(await opening(hub.open(path, { headers: { cookie } }))).toBe(403);
    expect(await opening(hub.open(path, { headers: { cookie, origin: hub.hub.url } }))).toBe(101);
  });
});

describe('a flood of WebSockets', () => {
  it('takes no more places than one credential has, and none of the others', async () => {
    const [ann, bob] = [hub.token('ann', 'operator'), hub.token('bob', 'operator')];
    const path = '/api/v1/nodes/alpha/connect';
    const statuses = await Promise.all(
      Array.from({ length: LINES_OF_ONE_MAX + 20 }, () => opening(hub.open(path, { token: ann }))),
    );
    expect(statuses.filter((status) => status === 101).length).toBeLessThanOrEqual(LINES_OF_ONE_MAX);
    expect(new Set(statuses)).toEqual(new Set([101, 503]));
    expect(await opening(hub.open(path, { token: bob }))).toBe(101);
    expect((await hub.ask('GET', '/api/v1/me', { token: ann })).status).toBe(200);
  });

  it('of guesses is slowed down, and keeps nobody out who is good', async () => {
    const token = hub.token('ann', 'operator');
    const statuses: number[] = [];
    for (let count = 0; count < 15; count += 1)
      statuses.push(
        await opening(
          hub.open('/api/v1/events/ws', { token: `roost_hub_${String(count).padStart(64, '0')}` }),
        ),
      );
    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 401));
    expect(statuses.at(-1)).toBe(429);
    expect(await opening(hub.open('/api/v1/events/ws', { token }))).toBe(101);
  });
});

it('opens nothing that is as large as it likes', async () => {
  const token = hub.token('ann', 'operator');
  const webSocket = hub.open('/api/v1/events/ws', { token });
  await opening(webSocket);
  let code = 0;
  webSocket.on('close', (closed) => (code = closed));
  webSocket.send('x'.repeat(100_000));
  await until(() => code === 1009 || code === 1008, 'the end');
});
