import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { NodeStatus } from '@roost/protocol';
import { expect, it } from 'vitest';
import { CLI, isAlive, RoostHome } from '../support/roost-home.ts';

it('a newer node adopts the keeper of an older one and lets it drain', async () => {
  await using roost = new RoostHome();
  const before = await roost.run('before', ['cat']);
  await roost.ok(['down']);

  // The next version: the same program but for the keeper's content, installed elsewhere.
  const next = join(roost.root, 'next');
  mkdirSync(next);
  cpSync(dirname(CLI), join(next, 'dist'), { recursive: true });
  writeFileSync(join(next, 'package.json'), '{"type":"module"}');
  symlinkSync(new URL('../../node_modules', import.meta.url).pathname, join(next, 'node_modules'));
  appendFileSync(join(next, 'dist', 'keeper.js'), '\n// newer\n');
  execFileSync(process.execPath, [join(next, 'dist', 'roost.js'), 'up', '--no-hub'], {
    env: roost.environment,
    cwd: roost.work,
  });

  const after = await roost.run('after', ['cat']);
  const { keepers } = await roost.json<NodeStatus>(['status']);
  expect(keepers.find(({ id }) => id === before.keeperId)?.state).toBe('draining');
  expect(after.keeperId).not.toBe(before.keeperId);
  expect(keepers.find(({ id }) => id === after.keeperId)?.state).toBe('serving');

  expect(await roost.session('before')).toMatchObject({ status: 'running', pid: before.pid });
  await roost.ok(['send', 'before', 'still here', '--enter']);
  await roost.screenShows('before', /still here\s+still here/);
  await roost.ok(['stop', 'before']);
  expect(isAlive(before.pid ?? 0)).toBe(false);
});
