import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FailureError } from '@roost/protocol';
import { NODE_A, TestHub } from '../hub-for-test.ts';

let hub: TestHub;
let web: string;
beforeEach(async () => {
  web = mkdtempSync(join(tmpdir(), 'roost-web-'));
  mkdirSync(join(web, 'assets'));
  writeFileSync(join(web, 'index.html'), '<!doctype html>');
  writeFileSync(join(web, 'index.html.gz'), 'packed');
  writeFileSync(join(web, 'assets', 'main-abc123.js'), 'export {};');
  writeFileSync(join(web, 'notes.secret'), 'no');
  symlinkSync('/etc/passwd', join(web, 'assets', 'passwd.txt'));
  hub = await TestHub.start({ web });
});
afterEach(async () => {
  await hub.stop();
  rmSync(web, { recursive: true, force: true });
});

describe('health', () => {
  it('tells of the database, the links and a question to a node, and no name', async () => {
    const { status, json, text } = await hub.ask('GET', '/health');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      ok: true,
      store: { writable: true },
      links: { online: 2, offline: 0 },
      roundTrip: { ok: true },
    });
    expect(hub.fleet.asked).toMatchObject([{ request: { operation: 'controller.show', params: {} } }]);
    expect(text).not.toMatch(/alpha|beta|aaaa/);
  });

  it('asks a node no more often than every few seconds, whoever asks', async () => {
    await Promise.all(Array.from({ length: 20 }, () => hub.ask('GET', '/health')));
    expect(hub.fleet.asked).toHaveLength(1);
  });

  it('is bad when a node that is online does not answer, and not because one is offline', async () => {
    hub.fleet.answer = () => {
      throw new FailureError('request-timed-out');
    };
    expect(await hub.ask('GET', '/health')).toMatchObject({
      status: 503,
      json: { ok: false, roundTrip: { ok: false } },
    });
  });

  it('is good while no node is online', async () => {
    for (const node of hub.fleet.nodes())
      hub.fleet.put({
        ...node,
        link: { state: 'offline', since: '2026-01-01T00:00:00.000Z', reason: 'unreachable', attempts: 1 },
      });
    expect(await hub.ask('GET', '/health')).toMatchObject({
      status: 200,
      json: { links: { offline: 2 }, roundTrip: null },
    });
  });

  it('is bad when nothing can be written', async () => {
    const database = new Database(join(hub.home, 'hub.db'));
    database.exec("CREATE TRIGGER no_hub BEFORE UPDATE ON hub BEGIN SELECT RAISE(ABORT, 'full'); END");
    database.close();
    expect(await hub.ask('GET', '/health')).toMatchObject({
      status: 503,
      json: { store: { writable: false } },
    });
    expect((await hub.ask('GET', '/ready')).json).toEqual({ ready: true });
  });
});

describe('metrics', () => {
  it('are for admins, the owner, and programs on this machine with a token', async () => {
    const admin = hub.token('ann', 'admin');
    const observer = hub.token('bob', 'observer');
    expect((await hub.ask('GET', '/metrics')).status).toBe(401);
    expect((await hub.ask('GET', '/metrics', { headers: { cookie: await hub.cookie('bob') } })).status).toBe(
      403,
    );
    for (const asking of [{ token: admin }, { token: observer }, { isLocal: true }]) {
      const { status, headers } = await hub.ask('GET', '/metrics', asking);
      expect(status).toBe(200);
      expect(headers['content-type']).toMatch(/^text\/plain; version=/);
    }
  });

  it('count requests by operation and status, nodes by state, and name nobody', async () => {
    const token = hub.token('ann', 'operator');
    await hub.ask('GET', `/api/v1/nodes/${NODE_A}/sessions`, { token });
    await hub.ask('GET', '/api/v1/me');
    const { text } = await hub.ask('GET', '/metrics', { isLocal: true });
    expect(text).toContain('roost_hub_http_request_seconds_count{operation="session.list",status="200"} 1');
    expect(text).toContain('roost_hub_http_request_seconds_count{operation="me.show",status="401"} 1');
    expect(text).toContain('roost_hub_nodes{state="online"} 2');
    expect(text).not.toMatch(/ann|alpha|aaaa/);
  });
});

describe('the web UI', () => {
  it('is served whole: pages anew, files with a hash in their name for ever', async () => {
    const page = await hub.ask('GET', '/');
    expect(page).toMatchObject({
      status: 200,
      text: '<!doctype html>',
      headers: { 'cache-control': 'no-cache', 'content-type': 'text/html; charset=utf-8' },
    });
    expect(await hub.ask('GET', '/sessions/some-place')).toMatchObject({
      status: 200,
      text: '<!doctype html>',
    });
    expect(await hub.ask('GET', '/assets/main-abc123.js?x')).toMatchObject({
      status: 200,
      text: 'export {};',
      headers: {
        'cache-control': 'public, max-age=31536000, immutable',
        'content-type': 'text/javascript; charset=utf-8',
      },
    });
    expect(await hub.ask('HEAD', '/')).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': '15' },
    });
    const etag = String(page.headers.etag);
    expect(await hub.ask('GET', '/', { headers: { 'if-none-match': etag } })).toMatchObject({
      status: 304,
      text: '',
    });
  });

  it('is sent packed to those who take that, each form with a tag of its own', async () => {
    const ask = (accepted: string, headers: Record<string, string> = {}) =>
      hub.ask('GET', '/', { headers: { ...headers, 'accept-encoding': accepted } });
    for (const accepted of ['', 'identity', 'br', 'gzip;q=0', 'gzip;q=0.0', 'x-gzip']) {
      const { text, headers } = await ask(accepted);
      expect([accepted, text, headers['content-encoding']]).toEqual([accepted, '<!doctype html>', undefined]);
      expect(headers.vary).toBe('accept-encoding');
    }
    const plain = await ask('identity');
    for (const accepted of ['gzip', 'gzip, deflate, br, zstd', 'br;q=1, GZIP;q=0.5', 'deflate,gzip;q=1.0']) {
      const { text, headers } = await ask(accepted);
      expect([accepted, text, headers['content-encoding']]).toEqual([accepted, 'packed', 'gzip']);
      expect(headers.etag).not.toBe(plain.headers.etag);
      expect((await ask(accepted, { 'if-none-match': String(headers.etag) })).status).toBe(304);
      expect((await ask(accepted, { 'if-none-match': String(plain.headers.etag) })).status).toBe(200);
    }
    const script = await hub.ask('GET', '/assets/main-abc123.js', { headers: { 'accept-encoding': 'gzip' } });
    expect(script).toMatchObject({ text: 'export {};' });
  });

  it('gives nothing else away, whatever path is asked for', async () => {
    for (const path of [
      '/../hub.db',
      '/..%2fhub.db',
      '/%2e%2e/hub.db',
      '/assets/../../hub.db',
      '/assets/..%5c..%5chub.db',
      '/assets//etc/passwd',
      '//etc/passwd',
      '/assets/passwd.txt',
      '/notes.secret',
      '/assets/missing.js',
      '/index.html%00.js',
      '/.git/config',
      `/${'../'.repeat(20)}etc/passwd`,
    ]) {
      const { status, text } = await hub.ask('GET', path);
      expect({ path, isPageOrNothing: status >= 400 || text === '<!doctype html>' }).toEqual({
        path,
        isPageOrNothing: true,
      });
    }
    expect((await hub.ask('GET', '/assets/missing.js')).status).toBe(404);
    expect((await hub.ask('GET', '/api/v1/missing')).status).toBe(404);
  });
});

it('has its own description for everybody', async () => {
  const { status, json } = await hub.ask('GET', '/api/v1/openapi.json');
  expect(status).toBe(200);
  expect(json).toMatchObject({ openapi: '3.1.0', info: { version: '0.0.0-test' } });
});

it('reads its description as it was built, once', async () => {
  let reads = 0;
  const apiDocument = () => {
    reads += 1;
    return Promise.resolve('{"openapi":"3.1.0","built":true}');
  };
  const other = await TestHub.start({ apiDocument });
  try {
    const answers = [1, 2].map(() => other.ask('GET', '/api/v1/openapi.json'));
    for (const { json } of await Promise.all(answers)) expect(json).toMatchObject({ built: true });
    expect(reads).toBe(1);
  } finally {
    await other.stop();
  }
});
