import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODE_A, NODE_B, TestHub } from '../hub-for-test.ts';

let hub: TestHub;
beforeEach(async () => {
  hub = await TestHub.start();
});
afterEach(() => hub.stop());

const local = (method: string, path: string, body?: unknown) =>
  hub.ask(method, `/api/v1${path}`, { isLocal: true, body });

it('makes users, changes what they may do at once, and keeps an admin', async () => {
  expect((await local('POST', '/users', { name: 'ann', role: 'admin' })).json).toMatchObject({
    name: 'ann',
    scope: null,
    disabled: false,
  });
  expect((await local('POST', '/users', { name: 'ann', role: 'admin' })).json).toMatchObject({
    code: 'name-taken',
  });
  expect((await local('PATCH', '/users/ann', { role: 'observer' })).json).toMatchObject({
    code: 'last-admin',
  });
  const bob = hub.token('bob', 'operator');
  expect((await hub.ask('GET', '/api/v1/nodes', { token: bob })).status).toBe(200);
  expect((await local('PATCH', '/users/bob', { scope: [{ nodeId: NODE_A }] })).status).toBe(200);
  expect((await hub.ask('GET', '/api/v1/nodes', { token: bob })).json).toMatchObject({
    nodes: [{ name: 'alpha' }],
  });
  expect((await local('DELETE', '/users/bob')).status).toBe(200);
  expect((await hub.ask('GET', '/api/v1/nodes', { token: bob })).status).toBe(401);
  expect((await local('GET', '/users')).json).toMatchObject({ users: [{ name: 'ann' }] });
});

describe('tokens', () => {
  it('are of whoever makes them, no stronger, and seen by them and admins', async () => {
    const ann = hub.token('ann', 'operator');
    const bob = hub.token('bob', 'observer');
    const made = await hub.ask('POST', '/api/v1/tokens', {
      token: ann,
      body: { label: 'mine', role: 'observer' },
    });
    const { secret, token } = made.json as { secret: string; token: { id: string } };
    expect((await hub.ask('GET', '/api/v1/me', { token: secret })).json).toMatchObject({
      user: 'ann',
      role: 'observer',
    });
    expect(
      (await hub.ask('POST', '/api/v1/tokens', { token: secret, body: { label: 'x', role: 'operator' } }))
        .status,
    ).toBe(403);
    expect(
      (await hub.ask('POST', '/api/v1/tokens', { token: bob, body: { label: 'x', user: 'ann' } })).status,
    ).toBe(403);
    const seen = async (by: string) =>
      ((await hub.ask('GET', '/api/v1/tokens', { token: by })).json as { tokens: unknown[] }).tokens.length;
    expect([await seen(ann), await seen(bob)]).toEqual([2, 1]);
    expect((await local('GET', '/tokens')).json).toMatchObject({ tokens: [{}, {}, {}] });
    expect((await hub.ask('DELETE', `/api/v1/tokens/${token.id}`, { token: bob })).json).toMatchObject({
      code: 'unknown-token',
    });
    expect((await hub.ask('DELETE', `/api/v1/tokens/${token.id}`, { token: ann })).status).toBe(200);
    expect((await hub.ask('GET', '/api/v1/me', { token: secret })).status).toBe(401);
    expect((await local('POST', '/tokens', { label: 'x' })).status).toBe(400);
  });

  it('and links are in the audit log without what makes them secret', async () => {
    const ann = hub.token('ann', 'operator');
    const { json } = await hub.ask('POST', '/api/v1/tokens', {
      token: ann,
      body: { label: 'private label' },
    });
    const link = await hub.ask('POST', '/api/v1/login-links', { token: ann, body: {} });
    const { url } = link.json as { url: string };
    expect(url).toMatch(new RegExp(`^${hub.hub.url}/#/login/[0-9a-f]{64}$`));
    const { text } = await local('GET', '/audit');
    expect(text).toContain('tokens.create');
    for (const secret of [(json as { secret: string }).secret.slice(10), url.slice(-64), 'private label'])
      expect(text).not.toContain(secret);
  });
});

describe('a node', () => {
  const enrol = (code: string, facts: object = {}) =>
    hub.ask('POST', '/api/v1/enrol', {
      body: { code, nodeId: 'c'.repeat(16), nodeName: 'gamma', key: '1'.repeat(64), ...facts },
    });

  it('enrols once with an invitation, and hears the same when it asks again', async () => {
    const { json } = await local('POST', '/invites', { nodeName: 'laptop' });
    const { code, url } = json as { code: string; url: string };
    expect(url).toBe(hub.hub.url);
    const first = await enrol(code);
    expect(first).toMatchObject({ status: 200, json: { hubId: hub.hub.hubId, nodeName: 'laptop' } });
    expect((await local('GET', '/invites')).json).toMatchObject({ invites: [{ usedBy: 'c'.repeat(16) }] });
    expect((await enrol(code, { key: '2'.repeat(64) })).json).toMatchObject({ code: 'invite-invalid' });
    expect((await enrol('wrong')).json).toMatchObject({ code: 'invite-invalid' });
    const { text } = await local('GET', '/audit?operation=nodes.enrol');
    expect(text).toContain('"nodeId":"cccccccccccccccc"');
    expect(text).not.toContain('1'.repeat(64));
    expect(text).not.toContain(code);
  });

  it('cannot enrol with an invitation that was taken back', async () => {
    const { json } = await local('POST', '/invites', {});
    const { code, invite } = json as { code: string; invite: { id: string } };
    expect((await local('DELETE', `/invites/${invite.id}`)).status).toBe(200);
    expect((await enrol(code)).status).toBe(403);
  });

  it('is renamed and removed by admins, which the audit log tells of by its id', async () => {
    expect((await local('PATCH', '/nodes/alpha', { name: 'one' })).json).toMatchObject({
      name: 'one',
      id: NODE_A,
    });
    expect((await local('PATCH', '/nodes/one', { name: 'beta' })).json).toMatchObject({ code: 'name-taken' });
    expect((await local('DELETE', `/nodes/${NODE_B.slice(0, 6)}`)).json).toEqual({ nodeId: NODE_B });
    expect((await local('GET', '/nodes')).json).toMatchObject({ nodes: [{ name: 'one' }] });
    expect((await local('GET', `/audit?node=${NODE_B}`)).json).toMatchObject({
      entries: [{ operation: 'nodes.remove', nodeId: NODE_B }, {}],
    });
    expect((await local('GET', '/audit?node=nothing')).json).toMatchObject({ code: 'unknown-node' });
  });
});

it('reads the audit log in pages', async () => {
  for (let count = 0; count < 5; count += 1) await local('POST', '/invites', {});
  const first = (await local('GET', '/audit?limit=4')).json as {
    entries: { sequence: number }[];
    hasMore: boolean;
  };
  expect(first.hasMore).toBe(true);
  const rest = (await local('GET', `/audit?before=${first.entries.at(-1)!.sequence}`)).json as typeof first;
  expect([...first.entries, ...rest.entries].map(({ sequence }) => sequence)).toEqual([
    10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
  ]);
});
