/**
 * A process that makes users, tokens, logins, invitations, enrolments and lines of the audit log is killed at random moments. Whatever it
 * said it had done is there afterwards, what it took back stays taken back, and the database opens.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { openAccess } from '../../packages/hub/src/access/access.ts';
import { nodeKey, NodeKeys } from '../../packages/hub/src/access/node-keys.ts';
import { Audit } from '../../packages/hub/src/audit/audit.ts';
import type { Written } from '../../packages/hub/src/hub-writer-for-test.ts';
import { NodeTable } from '../../packages/hub/src/store/node-table.ts';
import { Store } from '../../packages/hub/src/store/store.ts';
import { attackCount } from '../support/counts.ts';

const KILLS = attackCount(100, 20);
/** Lines of a process after which it is killed, and milliseconds after the last of them. */
const LINES_MAX = 60;
const DELAY_MS_MAX = 20;

it(`a hub that dies at any moment keeps all that it said it had done (${KILLS} times)`, async () => {
  const home = mkdtempSync(join(tmpdir(), 'roost-hub-kill-'));
  const said: Written[] = [];
  try {
    for (let round = 0; round < KILLS; round += 1) {
      said.push(...(await writeUntilKilled(home)));
      expectKept(home, said);
    }
    for (const kind of [
      'user',
      'token',
      'browser',
      'revoked',
      'invite',
      'enrolled',
      'asked',
      'answered',
    ] as const)
      expect(said.filter((one) => one.kind === kind).length, kind).toBeGreaterThan(KILLS / 2);
  } finally {
    rmSync(home, { recursive: true });
  }
});

/** What the process said before it was killed. */
async function writeUntilKilled(home: string): Promise<Written[]> {
  const child = spawn(process.execPath, [join(inject('bundledNode'), 'hub-writer.js'), '--home', home], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<string | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)));
  const output: Buffer[] = [];
  const faults: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => faults.push(chunk));
  const closed = new Promise((resolve) => child.stdout.once('close', resolve));
  const enough = 1 + Math.floor(Math.random() * LINES_MAX);
  let lines = 0;
  const worked = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output.push(chunk);
      lines += chunk.toString().split('\n').length - 1;
      if (lines >= enough) resolve();
    });
  });
  try {
    await Promise.race([worked, ended]);
    await delay(Math.random() * DELAY_MS_MAX);
  } finally {
    child.kill('SIGKILL');
  }
  expect(await ended, Buffer.concat(faults).toString()).toBe('SIGKILL');
  await closed;
  const text = Buffer.concat(output).toString();
  // A last line without its end was not said.
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Written);
}

function expectKept(home: string, said: readonly Written[]): void {
  const store = Store.open(join(home, 'hub.db'));
  try {
    const nodes = new NodeTable(store);
    const keys = new NodeKeys(home);
    const { accounts, authenticator, invites } = openAccess({ store, nodes });
    const lines = new Audit({ store, onLost: () => undefined }).list({ limit: 1_000_000 }).entries;
    const answered = new Set(lines.filter(({ phase }) => phase === 'answered').map((line) => line.requestId));
    const asked = new Set(lines.filter(({ phase }) => phase === 'asked').map((line) => line.requestId));
    expect(lines.map(({ sequence }) => sequence).reverse()).toEqual(lines.map((_, index) => index + 1));
    for (const id of answered) expect(asked).toContain(id);
    const byToken = (secret: string) => authenticator.authenticate({ authorization: `Bearer ${secret}` });
    const revoking = new Set(said.flatMap((one) => (one.kind === 'revoking' ? [one.secret] : [])));
    const invited = new Set(invites.list().map(({ id }) => id));
    const hubs = new Set(said.flatMap((one) => (one.kind === 'hub' ? [one.hubId] : [])));
    expect(hubs.size).toBe(1);
    for (const one of said) {
      switch (one.kind) {
        case 'hub':
        case 'revoking':
          break;
        case 'user':
          expect(accounts.find(one.name)).not.toBeNull();
          break;
        case 'token':
          if (!revoking.has(one.secret)) expect(byToken(one.secret)).toMatchObject({ user: one.user });
          break;
        case 'revoked':
          expect(byToken(one.secret)).toBeNull();
          break;
        case 'browser':
          expect(authenticator.authenticate({ cookie: one.cookie })).toMatchObject({ user: one.user });
          break;
        case 'invite':
          expect(invited).toContain(one.id);
          break;
        case 'enrolled':
          expect(nodes.find(one.nodeId)).toMatchObject({ name: one.name });
          expect(keys.read(one.nodeId)).toBe(nodeKey(one.key));
          expect(invites.consume(one, () => expect.unreachable())).toBe(one.name);
          break;
        case 'asked':
          expect(asked).toContain(one.requestId);
          break;
        case 'answered':
          expect(answered).toContain(one.requestId);
          break;
      }
    }
    // A node has its key before anybody is told of it.
    const enrolled = new Set(nodes.list().map(({ id }) => id));
    for (const id of enrolled) expect(keys.read(id)).not.toBeNull();
    keys.keepOnly(enrolled);
    expect(readdirSync(join(home, 'nodes')).sort()).toEqual([...enrolled].sort());
  } finally {
    store.close();
  }
}
