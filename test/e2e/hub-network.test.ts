/** A hub and a node in networks of their own, over TLS with a certificate that vouches for itself, and a line between them that is cut. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nodeRequest } from '@roost/client';
import { HubHome } from '../support/hub-home.ts';
import { Network } from '../support/network.ts';
import { RoostHome } from '../support/roost-home.ts';
import { selfSigned } from '../support/self-signed.ts';

it('a node in another network joins by the pinned code, and comes back when its line was cut and mended', async ({
  skip,
}) => {
  const network = Network.make();
  if (typeof network === 'string') return skip(network);
  using _ = network;
  await using hub = new HubHome({ prefix: network.first });
  await using far = new RoostHome({ prefix: network.second });
  const { cert, key, fingerprint } = selfSigned();
  mkdirSync(join(hub.home, 'hub'), { recursive: true, mode: 0o700 });
  writeFileSync(join(hub.home, 'hub', 'cert.pem'), cert);
  writeFileSync(join(hub.home, 'hub', 'key.pem'), key, { mode: 0o600 });
  await hub.up({
    listen: { host: network.address, port: 0 },
    tls: { cert: 'cert.pem', key: 'key.pem' },
  });
  expect(hub.url).toMatch(/^https:\/\/192\.0\.2\.1:\d+$/);
  await far.ok(['up', '--no-hub']);

  const { code } = await hub.ask('invites.create', {});
  expect(code.split('.')[1]).toBe(fingerprint);
  const wrong = `${code.split('.')[0] ?? ''}.${'0'.repeat(64)}`;
  const refused = await far.roost(['node', 'join', hub.url, wrong]);
  expect(refused.stderr).toContain('hub-untrusted');
  expect(await far.ok(['node', 'join', hub.url, code, '--name', 'far'])).toContain('online');
  const { id } = await hub.link('far', 'online');
  const session = await nodeRequest(hub.owner, id, 'session.spawn', {
    directory: far.work,
    name: 'kept',
    launch: { kind: 'command', command: ['cat'] },
  });

  network.cut();
  const { link } = await hub.link('far', 'stale', 30_000);
  expect(link.reason).toBe('connection-lost');
  expect(await hub.ok(['ls'])).toMatch(/far \(stale\)\s.*kept/);
  network.mend();
  await hub.link('far', 'online', 60_000);
  expect((await nodeRequest(hub.owner, id, 'session.list', {})).sessions).toContainEqual(
    expect.objectContaining({ id: session.id, status: 'running' }),
  );
});
