/** `roost provider` and what a launch makes of providers, on a machine with stand-ins for agents. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Result, Session } from '@roost/protocol';
import { RoostHome } from '../support/roost-home.ts';

let roost: RoostHome;
let programs: string;

beforeEach(() => {
  roost = new RoostHome();
  programs = join(roost.root, 'programs');
  mkdirSync(programs);
  // Nothing of this machine: no agent is there but those of the test.
  roost.environment.PATH = `${programs}:/usr/bin:/bin`;
  mkdirSync(join(roost.home, 'providers'), { recursive: true, mode: 0o700 });
  chmodSync(roost.home, 0o700);
});
afterEach(() => roost[Symbol.asyncDispose]());

function program(name: string, version: string): void {
  writeFileSync(
    join(programs, name),
    `#!/bin/sh\n[ "$1" = --version ] && exec echo ${version}\necho "called with $*"\nexec cat\n`,
  );
  chmodSync(join(programs, name), 0o755);
}

it('finds agents, tells how to install one, and gives a launch what its provider and version take', async () => {
  program('claude', '2.1.197');
  program('gemini', '99.0.0');
  program('mine', '1.2.3');
  const define = (name: string, content: unknown) =>
    writeFileSync(join(roost.home, 'providers', name), JSON.stringify(content));
  define('mine.json', {
    displayName: 'Mine',
    executables: ['mine'],
    version: {},
    options: { model: { arguments: ['--use={value}'] } },
  });
  define('wrong.json', { displayName: 'Wrong' });

  const listed = await roost.json<Result<'provider.list'>>(['provider', 'ls']);
  const states = Object.fromEntries(listed.providers.map(({ id, discovery }) => [id, discovery?.state]));
  expect(states).toMatchObject({
    claude: 'installed',
    gemini: 'unverified-version',
    mine: 'installed',
    shell: 'installed',
  });
  expect(listed.faults?.map(({ file }) => file)).toEqual(['wrong.json']);

  const table = await roost.roost(['provider', 'ls']);
  expect(table.stdout).toMatch(/^claude +installed +2\.1\.197 +no +.*\/programs\/claude$/m);
  expect(table.stderr).toContain('99.0.0 is not one that Roost has seen at work');
  expect(table.stderr).toContain('wrong.json: ');
  expect(await roost.ok(['provider', 'show', 'mine'])).toMatch(/^option +model: any value$/m);
  const check = await roost.roost(['provider', 'check', 'amp']);
  expect(check).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('npm install -g @sourcegraph/amp'),
  });
  expect((await roost.roost(['provider', 'check', 'nobody'])).stderr).toMatch(/^roost: unknown-provider: /);

  const run = async (provider: string, ...options: string[]) =>
    JSON.parse(await roost.ok(['run', ...options, '--json', provider])) as Session;
  expect((await run('claude', '-o', 'permission-mode=plan')).command).toEqual([
    'claude',
    '--session-id',
    expect.stringMatching(/^[0-9a-f-]{36}$/),
    '--permission-mode',
    'plan',
  ]);
  expect((await run('mine', '-o', 'model=m')).command).toEqual(['mine', '--use=m']);
  // Of a version that nobody has seen at work, nothing is asked but to run.
  expect((await run('gemini')).command).toEqual(['gemini']);
  const refused = await roost.roost(['run', '-d', '-o', 'effort=low', 'mine']);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^roost: session-option-unsupported: /),
  });
}, 60_000);
