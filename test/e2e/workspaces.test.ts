import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HostDirectoryListing, Workspace, WorkspaceInspection, WorkspaceTree } from '@roost/protocol';
import { RoostHome } from '../support/roost-home.ts';

function git(home: RoostHome, directory: string, ...args: string[]): string {
  const own = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];
  const env = { PATH: home.environment.PATH ?? '', HOME: join(home.root, 'user'), GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', [...own, '-C', directory, ...args], { encoding: 'utf8', env }).trim();
}

describe('roost workspace', () => {
  test('makes a repository from nothing, shows what is in it, and finds it from within', async () => {
    await using home = new RoostHome();
    const root = join(realpathSync(home.work), 'fresh');
    expect(await home.ok(['workspace', 'new', 'fresh', '--branch', 'trunk'])).toBe(`fresh ${root}\n`);
    const inside = { cwd: join(root, 'src') };
    mkdirSync(inside.cwd);
    writeFileSync(join(root, 'src/main.txt'), 'one\n');
    mkdirSync(join(root, 'node_modules'));
    git(home, root, 'add', '-A');
    git(home, root, 'commit', '-q', '-m', 'Begin');
    writeFileSync(join(root, 'src/main.txt'), 'two\n');
    writeFileSync(join(root, 'n\x1b[31mew'), '');
    const commit = git(home, root, 'rev-parse', 'HEAD');

    const shown = await home.roost(['workspace', 'inspect'], inside);
    expect(shown).toEqual({
      code: 0,
      stderr: '',
      stdout: [
        `fresh ${root}`,
        `trunk ${commit.slice(0, 10)}`,
        '',
        '   M src/main.txt',
        '  ?? n�[31mew',
        '',
        'recent commits',
        `  ${commit.slice(0, 10)} Begin`,
        '',
        'worktrees',
        `  ${root}  trunk  fresh`,
        '',
        '.git/ (not looked into)',
        'n�[31mew',
        'node_modules/ (not looked into)',
        'src/',
        '',
      ].join('\n'),
    });
    const tree = await home.roost(['workspace', 'tree', '--depth', '1'], inside);
    expect(tree.stdout).not.toContain('main.txt');
    const whole = await home.ok(['workspace', 'tree', 'fresh']);
    expect(whole).toContain('src/\n  main.txt\n');

    const inspection = await home.json<WorkspaceInspection>(['workspace', 'inspect', 'fresh']);
    expect(WorkspaceInspection.parse(inspection)).toMatchObject({ workspaceId: 'fresh', tree: { cuts: [] } });
    expect(WorkspaceTree.parse(await home.json(['workspace', 'tree', 'fresh'])).entries).toHaveLength(5);
    expect(Workspace.array().parse(await home.json(['workspace', 'ls']))).toMatchObject([
      { id: 'fresh', root },
    ]);
  });

  test('refuses to make a repository where something is, and says what to do', async () => {
    await using home = new RoostHome();
    mkdirSync(join(home.work, 'used/inner'), { recursive: true });
    expect(await home.roost(['workspace', 'new', 'used'])).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /roost: invalid-workspace-root: .*\n {2}.*used: .*roost workspace new DIR/,
      ) as string,
    });
    const branch = await home.roost(['workspace', 'new', 'other', '--branch', 'a..b']);
    expect(branch).toMatchObject({ code: 1, stderr: expect.stringContaining('invalid-request') as string });
  });

  test('lists the directories of the machine, and refuses what is none', async () => {
    await using home = new RoostHome();
    const work = realpathSync(home.work);
    for (const name of ['b', 'a']) mkdirSync(join(work, name));
    writeFileSync(join(work, 'file'), '');
    expect(await home.ok(['workspace', 'browse'])).toBe(`${join(work, 'a')}\n${join(work, 'b')}\n`);
    const listing = HostDirectoryListing.parse(await home.json(['workspace', 'browse', work]));
    expect(listing).toMatchObject({ directory: work, nextAfter: null, incomplete: false });
    expect(await home.roost(['workspace', 'browse', 'file'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /host-directory-invalid: .*\n {2}.*file: roost workspace browse \//,
      ) as string,
    });
  });

  test('says which directory is in no workspace, and registers none by looking', async () => {
    await using home = new RoostHome();
    await home.ok(['up', '--no-hub']);
    expect(await home.roost(['workspace', 'inspect'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('unknown-workspace') as string,
    });
    expect(await home.json(['workspace', 'ls'])).toEqual([]);
    expect(await home.roost(['workspace', 'tree', '--depth', '7'])).toMatchObject({ code: 2 });
  });
});
