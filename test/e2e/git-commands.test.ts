/** What changed, asked on the command line: two agents in worktrees of one repository, and a person in the main checkout. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GitDiff } from '@roost/protocol';
import { RoostHome } from '../support/roost-home.ts';

let roost: RoostHome;
let scratch: string;
let root: string;

const git = (directory: string, ...args: string[]) =>
  execFileSync('git', ['-C', directory, '-c', 'user.name=n', '-c', 'user.email=e@example.org', ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: scratch, GIT_CONFIG_NOSYSTEM: '1' },
  });

beforeAll(async () => {
  roost = new RoostHome();
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'roost-git-e2e-')));
  root = join(scratch, 'main');
  git(scratch, 'init', '-q', '-b', 'main', root);
  writeFileSync(join(root, 'shared'), 'base\n');
  git(root, 'add', '.');
  git(root, 'commit', '-q', '-m', 'first');
  for (const name of ['one', 'two']) git(root, 'worktree', 'add', '-q', join(scratch, name));
  await roost.ok(['workspace', 'add', root, '--id', 'main']);
}, 60_000);
afterAll(async () => {
  await roost[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true, force: true });
}, 60_000);

test('each of two agents and a person sees only what was changed in its own working tree', async () => {
  const commit = 'git -c user.name=n -c user.email=e@example.org commit -qam own';
  for (const [name, script] of [
    ['one', `echo one > shared; ${commit}; echo 1 > new-one`],
    ['two', 'echo two >> shared'],
  ] as const) {
    const words = [
      'run',
      '--detach',
      '--name',
      name,
      '--cwd',
      join(scratch, name),
      '--',
      '/bin/sh',
      '-c',
      script,
    ];
    await roost.ok(words);
    await roost.ok(['wait', name]);
  }
  writeFileSync(join(root, 'person'), 'p\n');
  const diff = async (...words: string[]) => JSON.parse(await roost.ok([...words, '--json'])) as GitDiff;
  const paths = async (...words: string[]) => (await diff(...words)).files.map(({ path }) => path);
  expect(await paths('diff', 'one')).toEqual(['new-one', 'shared']);
  expect(await paths('diff', 'one', 'new-one')).toEqual(['new-one']);
  expect(await paths('diff', 'two')).toEqual(['shared']);
  expect(await paths('git', 'diff', 'main', '--since', 'HEAD')).toEqual(['person']);
  expect(await roost.ok(['diff', 'two'])).toContain(
    '--- a/shared\n+++ b/shared\n@@ -1 +1,2 @@\n base\n+two\n',
  );
  expect(await roost.ok(['diff', 'two', '--stat'])).toMatch(
    /ADDED +DELETED +STATUS +PATH\n +1 +0 +modified +shared\n/,
  );
  expect(await roost.ok(['git', 'status', 'main'])).toMatch(/^on main at [0-9a-f]{10}\n\?\? person\n$/);
  expect(await roost.ok(['git', 'log', 'main'])).toMatch(/^[0-9a-f]{10} {2}\d{4}-\d\d-\d\d {2}n {2}first\n$/);
});
