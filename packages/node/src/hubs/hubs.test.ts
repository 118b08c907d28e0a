// Joining and leaving: against a small server that answers an enrolment as a hub might.
import { createServer, type Server } from 'node:http';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HubId, NodeId, NodeName } from '@roost/protocol';
import type { Log } from '@roost/storage';
import { Hubs, ownName } from './hubs.ts';
import { readMemberships } from './membership-files.ts';

const NODE = NodeId.parse('a'.repeat(16));
const HUB = HubId.parse('b'.repeat(16));
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined } as unknown as Log;

let directory: string;
let server: Server;
let url: string;
let asked: { readonly path: string; readonly body: unknown }[];
let answer: { status: number; body: object };
let hubs: Hubs;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'roost-hubs-'));
  asked = [];
  answer = { status: 200, body: { hubId: HUB, nodeName: 'far' } };
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      asked.push({ path: request.url ?? '', body: JSON.parse(Buffer.concat(parts).toString()) });
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer.body));
    });
  });
  // Calls are not taken.
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  hubs = new Hubs({ directory, nodeId: NODE, server: { serveCall: () => undefined }, log });
});
afterEach(async () => {
  hubs.close();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  rmSync(directory, { recursive: true });
});

test('joining hands over a key of its own, keeps it, and tells what became of the first call', async () => {
  const joined = await hubs.join({ url, code: 'c0de', nodeName: NodeName.parse('far') });
  expect(joined).toMatchObject({ hubId: HUB, url, nodeName: 'far', state: 'refused' });
  const [kept] = readMemberships(directory, log);
  expect(asked).toEqual([
    { path: '/api/v1/enrol', body: { code: 'c0de', nodeId: NODE, nodeName: 'far', key: kept?.key } },
  ]);
  expect(hubs.list).toHaveLength(1);
  // Again: with another key, in place of the first.
  await hubs.join({ url, code: 'c0de', nodeName: NodeName.parse('far') });
  expect(hubs.list).toHaveLength(1);
  expect(readMemberships(directory, log)[0]?.key).not.toBe(kept?.key);
});

test('a node that starts anew belongs to the hubs that it belonged to', async () => {
  await hubs.join({ url, code: 'c0de' });
  const again = new Hubs({ directory, nodeId: NODE, server: { serveCall: () => undefined }, log });
  again.begin();
  expect(again.list).toMatchObject([{ hubId: HUB, url }]);
  again.leave(HUB);
  expect(again.list).toEqual([]);
  expect(readdirSync(directory)).toEqual([]);
  expect(() => again.leave(HUB)).toThrow(expect.objectContaining({ failure: expect.anything() as object }));
  await expect(again.connect(HUB, '0'.repeat(32))).rejects.toMatchObject({
    failure: { code: 'unknown-hub' },
  });
});

test.each([
  [400, { code: 'invite-invalid' }, 'invite-invalid'],
  [429, { code: 'rate-limited' }, 'rate-limited'],
  [500, { code: 'internal-error' }, 'hub-unreachable'],
  [403, { code: 'forbidden', details: { path: '/canary' } }, 'hub-unreachable'],
  [200, { anything: 'else' }, 'hub-untrusted'],
])('an enrolment that is answered %i %o fails with %s, and leaves nothing', async (status, body, code) => {
  answer = { status, body };
  await expect(hubs.join({ url, code: 'c0de' })).rejects.toMatchObject({ failure: { code } });
  expect(readdirSync(directory)).toEqual([]);
  expect(hubs.list).toEqual([]);
});

test.each([
  ['http://192.0.2.1:1', 'hub-untrusted'],
  ['ftp://127.0.0.1', 'invalid-request'],
  ['nonsense', 'invalid-request'],
  ['http://user:password@127.0.0.1:1', 'invalid-request'],
  ['http://127.0.0.1:1', 'hub-unreachable'],
])('no code is sent to %s', async (where, code) => {
  await expect(hubs.join({ url: where, code: 'c0de' })).rejects.toMatchObject({ failure: { code } });
  expect(asked).toEqual([]);
});

test.each([
  ['Build-Box.example.org', 'build-box'],
  ['Ärger im Büro', 'rger-im-b-ro'],
  ['-', 'node'],
  ['', 'node'],
])('the machine %s is the node %s unless told otherwise', (machine, name) => {
  expect(ownName(machine)).toBe(name);
});
