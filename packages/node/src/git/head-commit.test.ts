import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readHeadCommit } from './head-commit.ts';
import { Scratch } from './scratch-for-test.ts';

const NO_GIT = { environment: { PATH: '/nonexistent' } };
/** Milliseconds that are never too short. */
const LONG_MS = 30_000;

describe('where HEAD is', () => {
  it('is told without git: on a branch, packed or loose, detached, in linked worktrees and submodules', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    const tip = scratch.git(root, 'rev-parse', 'HEAD').trim();
    expect(await readHeadCommit(NO_GIT, root, LONG_MS)).toBe(tip);
    scratch.git(root, 'branch', 'maintenance/main');
    scratch.git(root, 'pack-refs', '--all');
    expect(await readHeadCommit(NO_GIT, root, LONG_MS)).toBe(tip);
    scratch.git(root, 'worktree', 'add', '-q', '-b', 'linked', scratch.at('linked'));
    const linked = scratch.commit(scratch.at('linked'), { b: 'b' });
    expect(await readHeadCommit(NO_GIT, scratch.at('linked'), LONG_MS)).toBe(linked);
    const outer = scratch.repository('outer', { o: 'o' });
    scratch.git(outer, 'submodule', '--quiet', 'add', root, 'module');
    expect(await readHeadCommit(NO_GIT, join(outer, 'module'), LONG_MS)).toBe(tip);
    scratch.git(root, 'checkout', '-q', '--detach', linked);
    expect(await readHeadCommit(NO_GIT, root, LONG_MS)).toBe(linked);
  });

  it('is asked of git when the files do not tell', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    scratch.git(root, 'pack-refs', '--all');
    writeFileSync(join(root, '.git/HEAD'), 'ref: refs/heads/.invalid\n');
    const id = '1'.repeat(40);
    expect(await readHeadCommit(scratch.withProgram('git', `echo ${id}`), root, LONG_MS)).toBe(id);
  });

  it('is unknown without a repository or a commit, and when nobody answers in time', async () => {
    const scratch = new Scratch();
    expect(await readHeadCommit(scratch.source, null)).toBe(null);
    const root = scratch.repository('r');
    expect(await readHeadCommit(scratch.source, root)).toBe(null);
    expect(await readHeadCommit(NO_GIT, root)).toBe(null);
    const from = performance.now();
    expect(await readHeadCommit(scratch.withProgram('git', 'exec sleep 60'), root)).toBe(null);
    expect(performance.now() - from).toBeLessThan(5_000);
  });

  it('does not wait for a pipe in the place of a file, and leads to no file elsewhere', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    writeFileSync(scratch.at('id'), `${'2'.repeat(40)}\n`);
    writeFileSync(join(root, '.git/HEAD'), 'ref: refs/../../../id\n');
    expect(await readHeadCommit(NO_GIT, root)).toBe(null);
    rmSync(join(root, '.git/HEAD'));
    execFileSync('mkfifo', [join(root, '.git/HEAD')]);
    expect(await readHeadCommit(NO_GIT, root)).toBe(null);
  });
});
