import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RoostHome } from '../support/roost-home.ts';

describe('roost worktree', () => {
  let home: RoostHome;
  let repository: string;
  const git = (args: readonly string[]) =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=T', '-c', 'user.email=t@localhost', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: home.root, GIT_CONFIG_NOSYSTEM: '1' },
    });

  beforeEach(async () => {
    home = new RoostHome();
    repository = join(realpathSync(home.root), 'project');
    mkdirSync(repository);
    git(['init', '--quiet', '--initial-branch=main']);
    writeFileSync(join(repository, '.gitignore'), '.env\n');
    git(['add', '.']);
    git(['commit', '--quiet', '-m', 'first']);
    await home.roost(['workspace', 'add', repository, '--id', 'project']);
  });
  afterEach(() => home[Symbol.asyncDispose]());

  test('makes one beside the repository, lists it, and removes it only when nothing is lost', async () => {
    const path = `${repository}.worktrees/fix`;
    const added = await home.roost(['worktree', 'add', 'fix', '--workspace', 'project']);
    expect(added).toMatchObject({ code: 0, stdout: `fix ${path}\n` });
    const again = await home.roost(['worktree', 'add', 'main', '--workspace', 'project']);
    expect(again.stderr).toMatch(/roost: branch-exists: .*\n.*checked out in .*project/);

    writeFileSync(join(path, '.env'), 'SECRET=1');
    const listed = await home.roost(['worktree', 'ls', 'project']);
    expect(listed.stdout).toMatch(
      /^BRANCH +HEAD +STATE +WORKSPACE +SESSIONS +PATH\nmain +\w{10} +main .*\nfix +\w{10} +clean +fix +- +/,
    );

    const refused = await home.roost(['worktree', 'rm', 'fix'], { cwd: repository });
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toMatch(/worktree-dirty: .*\n.*1 ignored, such as \.env; --discard-ignored/);
    expect(existsSync(join(path, '.env'))).toBe(true);
    const removed = await home.roost(['worktree', 'rm', 'fix', '--discard-ignored', '--json']);
    expect(JSON.parse(removed.stdout)).toEqual({ targetRoot: path, workspaceId: 'fix', recoveryRefs: [] });
    expect(existsSync(path)).toBe(false);
    expect(git(['branch', '--list', 'fix'])).toContain('fix');
  });

  test('removes one by its branch, and nothing where no name fits', async () => {
    await home.ok(['worktree', 'add', 'feat/x', '--workspace', 'project', '--id', 'other']);
    expect(await home.ok(['worktree', 'rm', 'feat/x'])).toBe(`removed ${repository}.worktrees/feat-x\n`);
    const none = await home.roost(['worktree', 'rm', 'feat/x']);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain("'feat/x' is no worktree");
    expect((await home.json<unknown[]>(['workspace', 'ls'])).length).toBe(1);
  });

  test('removes neither of two when a name is a directory here and the id of another', async () => {
    await home.roost(['worktree', 'add', 'fix', '--workspace', 'project']);
    const here = join(realpathSync(home.work), 'fix');
    mkdirSync(here);
    const asked = await home.roost(['worktree', 'rm', 'fix']);
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain(
      `${here} (a directory); ${repository}.worktrees/fix (workspace fix, branch fix): give the path`,
    );
    expect([existsSync(here), existsSync(`${repository}.worktrees/fix`)]).toEqual([true, true]);
  });
});
