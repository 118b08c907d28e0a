import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hubRequest, splitPinned } from '@roost/client';
import { FailureError, type FailureCode } from '@roost/protocol';
import { selfSigned } from '../../../test/support/self-signed.ts';
import { MemoryFleet } from './fleet/fleet-for-test.ts';
import { TestHub } from './hub-for-test.ts';
import { startHub, type Hub } from './hub.ts';

let home: string;
let hubs: Hub[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'roost-hub-'));
  hubs = [];
});
afterEach(async () => {
  for (const hub of hubs) await hub.stop();
  rmSync(home, { recursive: true, force: true });
});

const start = async (config: object = { listen: { port: 0 } }): Promise<Hub> => {
  writeFileSync(join(home, 'config.json'), JSON.stringify(config));
  const hub = await startHub({ home, version: '0.0.0-test', openFleet: () => new MemoryFleet() });
  hubs.push(hub);
  return hub;
};
const refusal = async (config?: object): Promise<FailureCode | null> => {
  try {
    await start(config);
  } catch (error) {
    if (error instanceof FailureError) return error.failure.code;
    throw error;
  }
  return null;
};

describe('a hub', () => {
  it('is the same hub after a new start, with everything in a directory of its owner', async () => {
    const first = await start();
    const { hubId } = first;
    for (const name of ['hub.db', 'hub.sock', 'logs/hub.log'])
      expect(statSync(join(home, name)).mode & 0o077).toBe(0);
    await first.stop();
    expect(existsSync(join(home, 'hub.sock'))).toBe(false);
    expect((await start()).hubId).toBe(hubId);
  });

  it('is alone on its directory, and lets go of it when it stops or cannot start', async () => {
    const first = await start();
    expect(await refusal()).toBe('hub-already-running');
    const port = Number(new URL(first.url).port);
    await first.stop();
    const second = await start({ listen: { port } });
    await second.stop();
    const other = await TestHub.start();
    expect(await refusal({ listen: { port: other.port } })).toBe('home-unusable');
    await other.stop();
    expect(await refusal()).toBeNull();
  });

  it('does not listen where others come without TLS, nor to what it does not understand', async () => {
    writeFileSync(join(home, 'cert.pem'), selfSigned().cert);
    writeFileSync(join(home, 'key.pem'), selfSigned().key);
    for (const config of [
      { tls: { cert: 'cert.pem', key: 'key.pem' } },
      { tls: { cert: 'config.json', key: 'config.json' } },
      { listen: { host: '0.0.0.0', port: 0 } },
      { listen: { host: '192.0.2.1', port: 0 } },
      { listen: { host: 'localhost', port: 0 } },
      { listen: { port: 70_000 } },
      { publicUrl: 'https://hub.example.org/path' },
      { publicUrl: 'ftp://hub.example.org' },
      { tls: { cert: 'missing.pem', key: 'missing.pem' } },
      { unknown: 1 },
    ])
      expect(await refusal(config)).toBe('home-unusable');
  });

  it('is known by its public address as well', async () => {
    const hub = await start({ listen: { port: 0 }, publicUrl: 'https://hub.example.org' });
    expect(hub.url).toBe('https://hub.example.org');
    const headers = { host: 'hub.example.org', origin: 'https://hub.example.org' };
    expect(await statusOf(hub, headers)).toBe(401);
    expect(await statusOf(hub, { ...headers, host: 'hub.example.org:8443' })).toBe(401);
    expect(await statusOf(hub, { ...headers, host: 'www.hub.example.org' })).toBe(403);
    expect(await statusOf(hub, { ...headers, origin: 'http://hub.example.org:1' })).toBe(403);
  });

  it('speaks TLS with a certificate, and says that it always will', async () => {
    const { cert, key, fingerprint } = selfSigned();
    writeFileSync(join(home, 'cert.pem'), cert);
    writeFileSync(join(home, 'key.pem'), key);
    const hub = await start({ listen: { port: 0 }, tls: { cert: 'cert.pem', key: 'key.pem' } });
    expect(hub.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
      get(`${hub.url}/ready`, { ca: cert, servername: 'localhost', agent: false }, (response) => {
        response.resume();
        resolve(response.headers);
      }).on('error', reject);
    });
    expect(headers['strict-transport-security']).toBe('max-age=31536000');
    // Whoever is invited knows it by that.
    const { code } = await hubRequest({ socketPath: hub.socket }, 'invites.create', {});
    expect(splitPinned(code)).toEqual({ secret: expect.any(String) as string, fingerprint });
  });
});

/** Of a request without a token. */
function statusOf(hub: Hub, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ ...hub.address, path: '/api/v1/me', headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}
