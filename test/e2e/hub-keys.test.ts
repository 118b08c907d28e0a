/** What people are handed to use a hub with: tokens and invitations of one whose certificate vouches for itself, as they are printed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HubHome } from '../support/hub-home.ts';
import { RoostHome } from '../support/roost-home.ts';
import { selfSigned } from '../support/self-signed.ts';

const hub = new HubHome();
const elsewhere = new RoostHome();

beforeAll(async () => {
  const { cert, key } = selfSigned();
  mkdirSync(join(hub.home, 'hub'), { recursive: true, mode: 0o700 });
  writeFileSync(join(hub.home, 'hub', 'cert.pem'), cert);
  writeFileSync(join(hub.home, 'hub', 'key.pem'), key, { mode: 0o600 });
  await hub.up({ tls: { cert: 'cert.pem', key: 'key.pem' } });
  await hub.link('local', 'online');
});
afterAll(() => Promise.all([hub, elsewhere].map((one) => one[Symbol.asyncDispose]())));

it('logs in elsewhere with the line and the token that were printed', async () => {
  await hub.ok(['hub', 'user', 'add', 'ann']);
  const made = await hub.roost(['hub', 'token', 'create', 'desk', '--user', 'ann']);
  expect(made.code).toBe(0);
  const line = / roost (login https:\S+) /.exec(made.stderr)?.[1] ?? '';
  expect(await elsewhere.ok(line.split(' '), { input: made.stdout })).toContain('as ann (operator)');
  expect(await elsewhere.ok(['node', 'ls'])).toMatch(/local\s.*online/);
  // By another certificate it is another hub.
  const wrong = made.stdout.replace(/[0-9a-f]{64}\n$/, `${'0'.repeat(64)}\n`);
  expect((await elsewhere.roost(line.split(' '), { input: wrong })).stderr).toContain('hub-untrusted');
});

it('joins with a code that stands in no argument', async () => {
  const [command = '', code = ''] = (await hub.ok(['hub', 'invite', '--name', 'far'])).split('\n');
  expect(command).toMatch(/^roost node join https:\S+$/);
  await elsewhere.ok(['up', '--no-hub']);
  const join = command.split(' ').slice(1);
  expect((await elsewhere.roost(join, { input: '\n' })).stderr).toMatch(/no code was given/);
  expect(await elsewhere.ok(join, { input: `${code}\n` })).toContain('as far; online');
  await hub.link('far', 'online');

  const { code: second } = await hub.ask('invites.create', {});
  expect((await elsewhere.roost([...join, '-'], { input: second })).stderr).not.toContain('usage');
});

it('asks a person for the code, and shows nothing of it', async () => {
  await using third = new RoostHome();
  await third.ok(['up', '--no-hub']);
  const { code, url } = await hub.ask('invites.create', {});
  const terminal = third.terminal(['node', 'join', url, '--name', 'third']);
  await terminal.shows(/paste the code/);
  terminal.type(`${code}\r`);
  expect(await terminal.ended()).toBe(0);
  expect(await terminal.text()).not.toContain(code.slice(0, 32));
  await hub.link('third', 'online');
});
