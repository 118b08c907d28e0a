import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GIT_STATUS_ENTRIES_MAX, type GitRepositoryStatus } from '@roost/protocol';
import { Deadline } from '../deadline.ts';
import { Scratch, SOON } from './scratch-for-test.ts';
import { readGitStatus } from './status.ts';

const statusOf = async (scratch: Scratch, directory: string): Promise<GitRepositoryStatus> => {
  const status = await readGitStatus(scratch.source, directory, SOON());
  if (status.kind !== 'repository') throw new Error(JSON.stringify(status));
  return status;
};
const entry = (status: GitRepositoryStatus, path: string) => status.entries.find((one) => one.path === path);
const LINES = Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n');

describe('the status of a repository', () => {
  it('tells staged, unstaged, untracked, renamed and copied files, whatever the configuration says of renames', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { old: LINES, copied: LINES.toUpperCase(), gone: 'g', kept: 'k' });
    scratch.git(root, 'config', 'status.renames', 'false');
    scratch.git(root, 'config', 'status.showUntrackedFiles', 'no');
    scratch.git(root, 'config', 'status.relativePaths', 'true');
    scratch.git(root, 'mv', 'old', 'new');
    scratch.git(root, 'rm', '-q', 'gone');
    scratch.write(root, {
      copied: `${LINES.toUpperCase()}x`,
      copy: LINES.toUpperCase(),
      kept: 'changed',
      'dir/one': '1',
    });
    scratch.git(root, 'add', 'copied', 'copy');
    const status = await statusOf(scratch, root);
    expect(status).toMatchObject({
      branch: 'main',
      upstream: null,
      operation: null,
      hasWorkingTree: true,
      unnameable: 0,
    });
    expect(status.commit).toBe(scratch.git(root, 'rev-parse', 'HEAD').trim());
    expect(entry(status, 'new')).toMatchObject({
      previousPath: 'old',
      index: 'renamed',
      worktree: 'unmodified',
    });
    expect(entry(status, 'copy')).toMatchObject({ previousPath: 'copied', index: 'copied' });
    expect(entry(status, 'gone')).toMatchObject({ index: 'deleted' });
    expect(entry(status, 'kept')).toMatchObject({ index: 'unmodified', worktree: 'modified' });
    expect(entry(status, 'dir')).toMatchObject({ worktree: 'untracked', isDirectory: true });
  });

  it('changes nothing: neither index nor anything else of the repository', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a', b: 'b' });
    // As if it were written again with the same content: git would note that in its index.
    for (const name of ['a', 'b']) chmodSync(join(root, name), 0o600);
    scratch.write(root, { a: 'a', b: 'b' });
    const before = readFileSync(join(root, '.git/index'));
    expect((await statusOf(scratch, root)).entries).toEqual([]);
    expect(readFileSync(join(root, '.git/index'))).toEqual(before);
    expect(existsSync(join(root, '.git/index.lock'))).toBe(false);
  });

  it('of a workspace inside a repository is that of its own files, named from there', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { 'sub/a': LINES, other: 'o' });
    scratch.write(root, { 'sub/a': 'changed', other: 'changed', 'fresh/x': 'x', 'fresh/y/z': 'z' });
    const inside = await statusOf(scratch, join(root, 'sub'));
    expect(inside.entries.map(({ path }) => path)).toEqual(['a']);
    const untracked = await statusOf(scratch, join(root, 'fresh'));
    expect(untracked.entries.map(({ path }) => path)).toEqual(['x', 'y/z']);
  });

  it.each([
    ['both-modified', 'c', 'ours', 'theirs'],
    ['deleted-by-us', 'c', null, 'theirs'],
    ['deleted-by-them', 'c', 'ours', null],
    ['both-added', 'n', 'ours', 'theirs'],
  ] as const)('tells of a merge that stopped: %s', async (conflict, path, ours, theirs) => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { c: 'base' });
    const change = (text: string | null) => {
      if (text === null) scratch.git(root, 'rm', '-q', path);
      scratch.commit(root, text === null ? {} : { [path]: text });
    };
    scratch.git(root, 'branch', 'theirs');
    change(ours);
    scratch.git(root, 'checkout', '-q', 'theirs');
    change(theirs);
    scratch.git(root, 'checkout', '-q', 'main');
    expect(() => scratch.git(root, 'merge', 'theirs')).toThrow();
    const status = await statusOf(scratch, root);
    expect(status.operation).toBe('merge');
    expect(entry(status, path)).toMatchObject({ conflict, index: 'conflicted', worktree: 'conflicted' });
  });

  it.each([
    ['rebase', ['rebase', 'theirs']],
    ['cherry-pick', ['cherry-pick', 'theirs']],
    ['revert', ['revert', '--no-edit', 'main~1']],
    ['bisect', ['bisect', 'start']],
  ] as const)('tells of an unfinished %s', async (operation, command) => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { c: 'base' });
    scratch.git(root, 'checkout', '-q', '-b', 'theirs');
    scratch.commit(root, { c: 'theirs' });
    scratch.git(root, 'checkout', '-q', 'main');
    scratch.commit(root, { c: 'first' });
    scratch.commit(root, { c: 'second' });
    try {
      scratch.git(root, ...command);
    } catch {
      // It stops at the conflict.
    }
    expect((await statusOf(scratch, root)).operation).toBe(operation);
  });

  it('tells how far a branch is from its upstream, and when that is gone', async () => {
    const scratch = new Scratch();
    const origin = scratch.repository('origin', { a: 'a' });
    scratch.git(scratch.path, 'clone', '-q', origin, 'clone');
    const clone = scratch.at('clone');
    scratch.commit(clone, { b: 'b' });
    scratch.commit(clone, { c: 'c' });
    scratch.commit(origin, { d: 'd' });
    scratch.git(clone, 'fetch', '-q');
    expect((await statusOf(scratch, clone)).upstream).toEqual({ branch: 'origin/main', ahead: 2, behind: 1 });
    scratch.git(clone, 'update-ref', '-d', 'refs/remotes/origin/main');
    expect((await statusOf(scratch, clone)).upstream).toEqual({
      branch: 'origin/main',
      ahead: null,
      behind: null,
    });
  });

  it('tells of a submodule which commit it has, and looks no further into it', async () => {
    const scratch = new Scratch();
    const inner = scratch.repository('inner', { i: 'i' });
    const root = scratch.repository('r', { a: 'a' });
    scratch.git(root, 'submodule', '--quiet', 'add', inner, 'module');
    scratch.commit(root, {});
    scratch.write(root, { 'module/i': 'changed' });
    expect((await statusOf(scratch, root)).entries).toEqual([]);
    scratch.commit(join(root, 'module'), { i: 'committed' });
    expect(entry(await statusOf(scratch, root), 'module')).toMatchObject({
      submodule: { commitChanged: true },
    });
  });

  it('of names that are no text says how many there are', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    writeFileSync(Buffer.from([...Buffer.from(`${root}/x`), 0xff]), '');
    scratch.write(root, { 'b\nc': '' });
    expect(await statusOf(scratch, root)).toMatchObject({ unnameable: 1, entries: [{ path: 'b\nc' }] });
  });

  it('is there without a commit, in a shallow clone, detached, in a linked worktree, and without a working tree', async () => {
    const scratch = new Scratch();
    const empty = scratch.repository('empty');
    scratch.write(empty, { a: 'a' });
    expect(await statusOf(scratch, empty)).toMatchObject({
      branch: 'main',
      commit: null,
      entries: [{ path: 'a' }],
    });

    const root = scratch.repository('r', { a: 'a' });
    const tip = scratch.commit(root, { b: 'b' });
    scratch.git(scratch.path, 'clone', '-q', '--depth', '1', `file://${root}`, 'shallow');
    expect(await statusOf(scratch, scratch.at('shallow'))).toMatchObject({ commit: tip, entries: [] });
    scratch.git(root, 'worktree', 'add', '-q', scratch.at('linked'));
    expect(await statusOf(scratch, scratch.at('linked'))).toMatchObject({ branch: 'linked', commit: tip });
    scratch.git(root, 'checkout', '-q', '--detach');
    expect(await statusOf(scratch, root)).toMatchObject({ branch: null, commit: tip });
    scratch.git(scratch.path, 'clone', '-q', '--bare', scratch.at('shallow'), 'bare');
    const none = { hasWorkingTree: false, entries: [] };
    expect(await statusOf(scratch, scratch.at('bare'))).toMatchObject({
      branch: 'main',
      commit: tip,
      ...none,
    });
    expect(await statusOf(scratch, join(root, '.git'))).toMatchObject({ branch: null, commit: tip, ...none });
  });

  it('is cut when more is untracked than is told', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    for (let at = 0; at <= GIT_STATUS_ENTRIES_MAX; at++) writeFileSync(join(root, `u${at}`), '');
    const status = await statusOf(scratch, root);
    expect([status.entries.length, status.entriesCut]).toEqual([GIT_STATUS_ENTRIES_MAX, true]);
  });

  it('of 100,000 files is whole, and bounded when all of them changed', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    const id = scratch.git(root, 'hash-object', '-w', 'a').trim();
    const lines = Array.from(
      { length: 100_000 },
      (_, at) => `100644 ${id}\td${at % 100}/${'long-name-'.repeat(5)}${at}\n`,
    );
    scratch.gitWith({ input: lines.join('') }, root, 'update-index', '--index-info');
    // In the index and not in HEAD, and not on disk either.
    const status = await statusOf(scratch, root);
    expect(status).toMatchObject({ branch: 'main', entriesCut: true });
    expect(status.entries.length).toBe(GIT_STATUS_ENTRIES_MAX);
    expect(status.entries[5]).toMatchObject({ index: 'added', worktree: 'deleted' });
  }, 60_000);
});

describe('what git cannot tell', () => {
  it('is not taken for the absence of a repository, which is an answer of its own', async () => {
    const scratch = new Scratch();
    mkdirSync(scratch.at('plain'));
    expect(await readGitStatus(scratch.source, scratch.at('plain'), SOON())).toEqual({
      kind: 'not-a-repository',
    });
    const over = Deadline.in(0);
    expect(await readGitStatus(scratch.source, scratch.repository('r'), over)).toEqual({
      kind: 'unknown',
      reason: 'git-timed-out',
    });
  });

  it('for a damaged index is told as such', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    writeFileSync(join(root, '.git/index'), 'no index at all, but as long as one has to be, and longer');
    expect(await readGitStatus(scratch.source, root, SOON())).toEqual({
      kind: 'unknown',
      reason: 'git-failed',
    });
  });

  it('without git is told as such', async () => {
    const scratch = new Scratch();
    const source = { environment: { ...scratch.source.environment, PATH: scratch.at('nothing') } };
    expect(await readGitStatus(source, scratch.repository('r'), SOON())).toEqual({
      kind: 'unknown',
      reason: 'git-not-installed',
    });
  });

  it('because the repository belongs to somebody else is told as such', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    const real = scratch.git(scratch.path, '--exec-path').trim();
    const source = scratch.withProgram('git', `GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec '${real}/git' "$@"`);
    expect(await readGitStatus(source, root, SOON())).toEqual({
      kind: 'unknown',
      reason: 'git-ownership-refused',
    });
  });

  it('in its time is cut off, with every process that it began', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    const real = scratch.git(scratch.path, '--exec-path').trim();
    // Hangs in the last step only.
    const source = scratch.withProgram(
      'git',
      `case "$*" in *porcelain*) sleep 60 & echo $! > '${scratch.at('child')}'; wait;; *) exec '${real}/git' "$@";; esac`,
    );
    const from = performance.now();
    expect(await readGitStatus(source, root, Deadline.in(1_000))).toEqual({
      kind: 'unknown',
      reason: 'git-timed-out',
    });
    expect(performance.now() - from).toBeLessThan(10_000);
    const child = Number(readFileSync(scratch.at('child'), 'utf8'));
    await expect
      .poll(() => {
        try {
          return readFileSync(`/proc/${child}/stat`, 'utf8').includes(') Z ');
        } catch {
          return true;
        }
      })
      .toBe(true);
  });
});
