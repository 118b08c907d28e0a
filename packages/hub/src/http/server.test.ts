import { readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserName } from '@roost/protocol';
import { LOCAL } from '../access/authenticate.ts';
import { Problem } from './problem.ts';
import { NODE_A, TestHub } from '../hub-for-test.ts';

let hub: TestHub;
beforeEach(async () => {
  hub = await TestHub.start();
});
afterEach(() => hub.stop());

const me = '/api/v1/me';

describe('who asks', () => {
  it('is the owner over the socket in the directory, which nobody else opens', async () => {
    expect(statSync(hub.hub.socket).mode & 0o777).toBe(0o600);
    expect(statSync(hub.home).mode & 0o777).toBe(0o700);
    expect((await hub.ask('GET', me, { isLocal: true })).json).toMatchObject({
      kind: 'local',
      role: 'admin',
    });
  });

  it('is known by a token on TCP, and nobody without', async () => {
    const token = hub.token('ann', 'operator');
    expect((await hub.ask('GET', me, { token })).json).toMatchObject({
      kind: 'user',
      user: 'ann',
      role: 'operator',
    });
    const answer = await hub.ask('GET', me);
    expect(answer).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
    expect((await hub.ask('GET', me, { token: `roost_hub_${'0'.repeat(64)}` })).status).toBe(401);
  });

  it('is known by a cookie once a login link was redeemed, until logged out', async () => {
    hub.token('ann', 'operator');
    const cookie = await hub.cookie('ann');
    expect(cookie).toMatch(/^roost_[0-9a-f]{16}=[0-9a-f]{64}$/);
    expect((await hub.ask('GET', me, { headers: { cookie } })).json).toMatchObject({ user: 'ann' });
    const headers = { cookie, origin: hub.hub.url, 'x-roost-csrf': '1' };
    const out = await hub.ask('POST', '/api/v1/logout', { headers });
    expect(out).toMatchObject({ status: 200, json: {} });
    expect(out.headers['set-cookie']?.[0]).toContain('Max-Age=0');
    expect((await hub.ask('GET', me, { headers: { cookie } })).status).toBe(401);
  });

  it('gives a cookie that no script reads and no other site sends', async () => {
    hub.token('ann', 'operator');
    const { code } = hub.hub.access.logins.createLink(UserName.parse('ann'), LOCAL);
    const answer = await hub.ask('POST', '/api/v1/login', { body: { code } });
    expect(answer.headers['set-cookie']?.[0]).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    expect((await hub.ask('POST', '/api/v1/login', { body: { code } })).status).toBe(401);
  });
});

describe('a page of another site', () => {
  it('does not get in by a name of its own that leads to this machine', async () => {
    const token = hub.token('ann', 'operator');
    for (const host of [
      'evil.example',
      'evil.example:80',
      '127.0.0.1.evil.example',
      'localhost.evil',
      '127.0.0.1@evil',
    ])
      expect((await hub.ask('GET', me, { token, headers: { host } })).status).toBe(403);
    for (const host of ['localhost', `localhost:${hub.port}`, '127.0.0.1', '[::1]:1'])
      expect((await hub.ask('GET', me, { token, headers: { host } })).status).toBe(200);
    expect((await hub.ask('GET', '/health', { headers: { host: 'evil.example' } })).status).toBe(403);
  });

  it('is refused by its Origin, whatever it asks', async () => {
    const token = hub.token('ann', 'operator');
    for (const origin of [
      'https://evil.example',
      'null',
      `http://localhost:${hub.port}`,
      'http://127.0.0.1:1',
      hub.hub.url.replace('http', 'https'),
    ])
      expect((await hub.ask('GET', me, { token, headers: { origin } })).status).toBe(403);
    expect((await hub.ask('GET', me, { token, headers: { origin: hub.hub.url } })).status).toBe(200);
    expect((await hub.ask('GET', me, { isLocal: true, headers: { origin: hub.hub.url } })).status).toBe(403);
  });

  it('cannot even make the browser read with the cookie, but may link to our pages', async () => {
    hub.token('ann', 'operator');
    const cookie = await hub.cookie('ann');
    for (const site of ['cross-site', 'same-site']) {
      expect((await hub.ask('GET', me, { headers: { cookie, 'sec-fetch-site': site } })).status).toBe(403);
      expect((await hub.ask('GET', '/', { headers: { cookie, 'sec-fetch-site': site } })).status).toBe(404);
    }
    for (const site of ['same-origin', 'none'])
      expect((await hub.ask('GET', me, { headers: { cookie, 'sec-fetch-site': site } })).status).toBe(200);
  });

  it('cannot use the cookie: a change needs our header, and our page', async () => {
    hub.token('ann', 'admin');
    const cookie = await hub.cookie('ann');
    const path = '/api/v1/invites';
    const tries: Record<string, string>[] = [
      { cookie },
      { cookie, origin: hub.hub.url },
      { cookie, 'x-roost-csrf': '1' },
      { cookie, 'x-roost-csrf': '1', 'sec-fetch-site': 'cross-site' },
      { cookie, 'x-roost-csrf': '1', 'sec-fetch-site': 'same-site' },
      { cookie, 'x-roost-csrf': '1', origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    ];
    for (const headers of tries)
      expect((await hub.ask('POST', path, { headers, body: {} })).status).toBe(403);
    expect(hub.hub.access.invites.list()).toEqual([]);
    for (const own of [{ origin: hub.hub.url }, { 'sec-fetch-site': 'same-origin' }])
      expect(
        (await hub.ask('POST', path, { headers: { cookie, 'x-roost-csrf': '1', ...own }, body: {} })).status,
      ).toBe(200);
    // What only reads is bound by SameSite alone.
    expect((await hub.ask('GET', path, { headers: { cookie } })).status).toBe(200);
  });

  it('cannot log somebody in as somebody else, nor enrol a node', async () => {
    for (const path of ['/api/v1/login', '/api/v1/enrol']) {
      const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'x-roost-csrf': '1' };
      expect((await hub.ask('POST', path, { headers, body: {} })).status).toBe(403);
      expect((await hub.ask('POST', path, { headers: { 'sec-fetch-site': 'none' }, body: {} })).status).toBe(
        403,
      );
    }
  });

  it('cannot send a body that needs no leave of the browser', async () => {
    const token = hub.token('ann', 'admin');
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      expect(
        (await hub.ask('POST', '/api/v1/invites', { token, headers: { 'content-type': type }, body: {} }))
          .status,
      ).toBe(415);
  });
});

describe('every answer', () => {
  it('has an id, is not stored, and tells the browser what it may not do', async () => {
    const ids = new Set<string>();
    for (const path of ['/health', me, '/api/v1/nothing', '/', '/api/v1/openapi.json', '/%E0%A4%A']) {
      const { headers } = await hub.ask('GET', path);
      ids.add(String(headers['x-request-id']));
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      });
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'/,
      );
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
    expect(ids.size).toBe(6);
  });

  it('that refuses is a problem with a code of the list', async () => {
    const { json, headers } = await hub.ask('GET', me);
    expect(headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(Problem.parse(json)).toMatchObject({
      type: 'urn:roost:failure:unauthenticated',
      code: 'unauthenticated',
      status: 401,
      requestId: headers['x-request-id'],
    });
    expect((await hub.ask('GET', '/api/v1/nothing')).json).toMatchObject({
      status: 404,
      code: 'unknown-operation',
    });
    expect((await hub.ask('POST', '/health')).status).toBe(404);
  });
});

describe('a secret in an address', () => {
  it('is refused, however it is written, and is in no log', async () => {
    const token = hub.token('ann', 'admin');
    for (const query of [
      `token=${token}`,
      `access_token=x`,
      `Authorization=x`,
      `x=${token}`,
      `x=%72oost_hub_${token.slice(10)}`,
    ])
      expect(await hub.ask('GET', `${me}?${query}`, { token })).toMatchObject({
        status: 400,
        json: { code: 'invalid-request' },
      });
    expect((await hub.ask('GET', `/${token}`)).status).toBe(400);
    expect(readFileSync(`${hub.home}/logs/hub.log`, 'utf8')).not.toContain(token.slice(10));
  });
});

describe('guessing', () => {
  it('is slowed down, and keeps nobody out who is good', async () => {
    const token = hub.token('ann', 'operator');
    const statuses: number[] = [];
    for (let count = 0; count < 15; count += 1)
      statuses.push(
        (await hub.ask('GET', me, { token: `roost_hub_${String(count).padStart(64, '0')}` })).status,
      );
    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 401));
    expect(statuses.at(-1)).toBe(429);
    expect((await hub.ask('GET', me, { token })).status).toBe(200);
    const login = await hub.ask('POST', '/api/v1/login', { body: { code: 'x' } });
    expect(login.status).toBe(429);
    expect(Number(login.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('of codes leaves no more lines in the audit log than it has attempts', async () => {
    for (let count = 0; count < 15; count += 1)
      await hub.ask('POST', '/api/v1/login', { body: { code: `guess-${count}` } });
    const { json } = await hub.ask('GET', '/api/v1/audit', { isLocal: true });
    const { entries } = json as { entries: { operation: string; actor: string; outcome: string | null }[] };
    expect(entries).toHaveLength(20);
    expect(entries[0]).toMatchObject({
      operation: 'logins.redeem',
      actor: 'nobody',
      outcome: 'unauthenticated',
    });
    expect(JSON.stringify(entries)).not.toContain('guess');
  });
});

describe('a body', () => {
  it('is refused before it is read when nobody is known, and when it is too long, broken or no object', async () => {
    const token = hub.token('ann', 'admin');
    const long = JSON.stringify({ nodeName: 'x'.repeat(2 * 1024 * 1024) });
    const path = '/api/v1/invites';
    expect((await hub.ask('POST', path, { body: '{' })).status).toBe(401);
    expect((await hub.ask('POST', path, { token, body: long })).status).toBe(413);
    for (const body of [
      '{',
      '[]',
      '"x"',
      'null',
      '{"a":1}',
      '{"__proto__":{"role":"admin"}}',
      '{"nodeName":1}',
      '\u0000',
    ])
      expect(await hub.ask('POST', path, { token, body })).toMatchObject({
        status: 400,
        json: { code: 'invalid-request' },
      });
    expect((await hub.ask('POST', path, { token })).status).toBe(200);
  });

  it('may be long where a text is typed', async () => {
    const token = hub.token('ann', 'operator');
    const path = `/api/v1/nodes/${NODE_A}/sessions/${'1'.repeat(16)}/input`;
    const address = { workspaceId: 'web', generation: 1, framing: 'paste' };
    const body = { ...address, text: 'x'.repeat(8 * 1024 * 1024) };
    expect((await hub.ask('POST', path, { token, body })).status).toBe(200);
    expect(hub.fleet.asked[0]?.request.params).toMatchObject({
      sessionId: '1'.repeat(16),
      workspaceId: 'web',
    });
    const observer = hub.token('bob', 'observer');
    expect((await hub.ask('POST', path, { token: observer, body: '{' })).status).toBe(403);
  });
});

describe('a connection', () => {
  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(hub.port, '127.0.0.1', () => socket.write(text));
      let answer = '';
      socket.on('data', (part) => (answer += part.toString()));
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
    });

  it('that speaks no HTTP, or too much of it, is closed', async () => {
    expect(await raw('\u0016\u0003\u0001\r\n\r\n')).toMatch(/^HTTP\/1.1 400/);
    expect(await raw(`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 431/,
    );
  });

  it('without a Host is refused', async () => {
    expect(await raw('GET /api/v1/me HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 403/);
  });
});
