import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FailureError, type Failure } from '@roost/protocol';
import { Deadline } from '../deadline.ts';
import { GitWorktrees, type WorktreeBranch } from './git-worktrees.ts';
import { hashTree, TestRepository } from './repository-for-test.ts';

let repository: TestRepository;
let worktrees: GitWorktrees;
beforeEach(() => {
  repository = new TestRepository();
  worktrees = new GitWorktrees({ environment: repository.environment });
});
afterEach(() => repository.remove());

const soon = () => Deadline.in(30_000);
const head = () => repository.git(['rev-parse', 'HEAD']);
const place = (name: string) => repository.place(name);
const add = (name: string, branch: WorktreeBranch = { create: name, commit: head() }) =>
  worktrees.add(repository.root, place(name), branch, soon());
const remove = (target: string, mayDiscard?: (name: string) => boolean) =>
  worktrees.remove(repository.root, target, soon(), mayDiscard === undefined ? {} : { mayDiscard });
async function refusal(work: Promise<unknown>): Promise<Pick<Failure, 'code' | 'details'>> {
  try {
    await work;
  } catch (error) {
    if (error instanceof FailureError) return { code: error.failure.code, details: error.failure.details };
    throw error;
  }
  throw new Error('it was not refused');
}

describe('making a worktree', () => {
  it('makes a new branch at a commit, told by its exact path, branch and head; removal keeps the branch', async () => {
    const first = head();
    repository.write('file.txt', 'two\n');
    repository.commit('second');
    const entry = await add('one', { create: 'feature/one', commit: first });
    expect(entry).toEqual({
      path: place('one'),
      head: first,
      branch: 'feature/one',
      isMain: false,
      isBare: false,
      locked: null,
      prunable: null,
    });
    const commit = repository.commit('work', place('one'));
    await remove(place('one'));
    expect(existsSync(place('one'))).toBe(false);
    expect(repository.git(['rev-parse', 'feature/one'])).toBe(commit);
    expect(repository.worktrees()).toEqual([repository.root]);
  });

  it.each(['with space', 'quote"and\\', 'line\nbreak', 'umläut-😀', '-dash', "it's", 'tab\there', '*?[a]'])(
    'takes the name %j for its directory',
    async (name) => {
      const entry = await add(name, { create: 'strange', commit: head() });
      expect(entry.path).toBe(place(name));
      expect(await worktrees.list(repository.root, soon())).toContainEqual(entry);
      await remove(place(name));
      expect(existsSync(place(name))).toBe(false);
    },
  );

  it('refuses where something is, and does not touch it: file, directory, dangling link', async () => {
    writeFileSync(place('file'), 'mine');
    mkdirSync(place('empty'));
    symlinkSync('/nowhere', place('link'));
    const before = hashTree(repository.base);
    for (const name of ['file', 'empty', 'link']) {
      expect(await refusal(add(name))).toEqual({
        code: 'worktree-conflict',
        details: { path: place(name), why: 'path-exists' },
      });
    }
    expect(hashTree(repository.base)).toBe(before);
  });

  it('refuses places where git or another worktree is, unless that one ignores it', async () => {
    const at = (path: string) =>
      worktrees.add(repository.root, path, { create: 'x', commit: head() }, soon());
    const why = async (path: string) => (await refusal(at(path))).details?.why;
    expect(await why(join(repository.root, '.git', 'x'))).toBe('inside-git');
    expect(await why(join(repository.root, 'x'))).toBe('inside-worktree');
    expect(await why(place('missing/x'))).toBe('no-parent');
    mkdirSync(join(repository.root, 'ignored'));
    expect((await at(join(repository.root, 'ignored', 'x'))).branch).toBe('x');
  });

  it.each(['relative', '/a/../b', '/nul\0', `/${'x'.repeat(5_000)}`])(
    'refuses %j as no path',
    async (path) => {
      const work = worktrees.add(repository.root, path, { create: 'x', commit: head() }, soon());
      expect((await refusal(work)).code).toBe('invalid-request');
    },
  );

  it('resolves links above the target, so that what is told is where it is', async () => {
    mkdirSync(place('real'));
    symlinkSync(place('real'), place('alias'));
    const target = place('alias/one');
    const entry = await worktrees.add(repository.root, target, { create: 'one', commit: head() }, soon());
    expect(entry.path).toBe(place('real/one'));
    await remove(target);
    expect(existsSync(place('real/one'))).toBe(false);
  });

  it.each(['', '-b', 'a..b', 'a b', 'HEAD', '@', '@{-1}', 'a.lock', 'a\n', 'x'.repeat(300)])(
    'refuses %j as no name of a branch',
    async (branch) => {
      const refs = repository.refs();
      expect((await refusal(add('one', { create: branch, commit: head() }))).code).toBe('invalid-request');
      expect(repository.refs()).toBe(refs);
    },
  );

  it('never takes an existing branch unasked: it says what could be done, and who holds it', async () => {
    repository.git(['branch', 'free']);
    expect(await refusal(add('one', { create: 'free', commit: head() }))).toEqual({
      code: 'branch-exists',
      details: { branch: 'free', choices: ['adopt', 'other-name'] },
    });
    for (const branch of [{ create: 'main', commit: head() }, { adopt: 'main' }]) {
      expect(await refusal(add('one', branch))).toEqual({
        code: 'branch-exists',
        details: { branch: 'main', heldBy: repository.root, choices: ['other-name'] },
      });
    }
    for (const branch of ['free/below', 'free/a/b']) {
      const { code, details } = await refusal(add('one', { create: branch, commit: head() }));
      expect([code, details?.conflicting]).toEqual(['branch-exists', 'free']);
    }
    repository.git(['branch', 'deep/er']);
    const above = await refusal(add('one', { create: 'deep', commit: head() }));
    expect(above.details).toMatchObject({ branch: 'deep', conflicting: 'deep/er' });
    expect(existsSync(place('one'))).toBe(false);
  });

  it('checks out an existing branch when asked to, even where a tag has its name', async () => {
    repository.git(['branch', 'both']);
    repository.write('file.txt', 'two\n');
    repository.commit('second');
    repository.git(['tag', 'both']);
    const entry = await add('one', { adopt: 'both' });
    expect(entry).toMatchObject({ branch: 'both', head: repository.git(['rev-parse', 'refs/heads/both']) });
    expect((await refusal(add('two', { adopt: 'absent' }))).code).toBe('invalid-revision');
  });

  it('leaves a whole worktree and says so when a hook of the repository fails', async () => {
    writeFileSync(join(repository.root, '.git/hooks/post-checkout'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    expect(await refusal(add('one'))).toEqual({
      code: 'worktree-recovery-required',
      details: { path: place('one') },
    });
    await remove(place('one'));
    expect(repository.worktrees()).toEqual([repository.root]);
  });

  it('undoes what was made when its time is over, and tells git’s process', async () => {
    writeFileSync(join(repository.root, '.git/hooks/post-checkout'), '#!/bin/sh\nsleep 60\n', {
      mode: 0o755,
    });
    let pid = 0;
    const work = worktrees.add(
      repository.root,
      place('one'),
      { create: 'one', commit: head() },
      Deadline.in(2_000),
      { started: (started) => (pid = started) },
    );
    const { code } = await refusal(work);
    expect(['git-timed-out', 'worktree-recovery-required']).toContain(code);
    expect(pid).toBeGreaterThan(0);
    expect(() => process.kill(pid, 0)).toThrow();
    expect(code === 'git-timed-out').toBe(!existsSync(place('one')));
  });
});

describe('a revision', () => {
  it('is answered as the full id of its commit', async () => {
    repository.git(['tag', '-a', 'v1', '-m', 'tag']);
    for (const revision of ['HEAD', 'main', 'v1', head().slice(0, 12)]) {
      expect(await worktrees.resolveCommit(repository.root, revision, soon())).toBe(head());
    }
  });

  it.each(['', 'absent', '--all', 'HEAD\n', 'HEAD^{tree}', 'x'.repeat(2_000)])(
    '%j is none',
    async (revision) => {
      expect(await refusal(worktrees.resolveCommit(repository.root, revision, soon()))).toEqual({
        code: 'invalid-revision',
        details: { revision },
      });
    },
  );

  it('is none before the first commit, and not looked for where no repository is', async () => {
    repository.git(['init', '--quiet', place('fresh')]);
    const of = (root: string) => refusal(worktrees.resolveCommit(root, 'HEAD', soon()));
    expect((await of(place('fresh'))).code).toBe('invalid-revision');
    expect((await of(repository.home)).code).toBe('not-git-repository');
    expect((await refusal(worktrees.list(repository.home, soon()))).code).toBe('not-git-repository');
  });
});

describe('removing a worktree', () => {
  beforeEach(async () => {
    await add('one');
  });
  const one = () => place('one');

  it('never looks at the branch: an unmerged one stays with all its commits', async () => {
    const commit = repository.commit('unmerged', one());
    await remove(one());
    expect(repository.git(['rev-parse', 'one'])).toBe(commit);
  });

  it('may discard ignored files only when each of them is named', async () => {
    repository.write('ignored/deep/file', 'x', one());
    repository.write('a.secret', 'x', one());
    expect(await refusal(remove(one()))).toEqual({
      code: 'worktree-dirty',
      details: { path: one(), ignored: 2, names: ['a.secret', 'ignored/'] },
    });
    const partly = await refusal(remove(one(), (name) => name === 'ignored/'));
    expect(partly.details).toMatchObject({ ignored: 1, names: ['a.secret'] });
    await remove(one(), () => true);
    expect(existsSync(one())).toBe(false);
  });

  it('sees what git was told not to look at', async () => {
    repository.git(['update-index', '--assume-unchanged', 'file.txt'], one());
    await worktrees.requireClean(repository.root, one(), soon());
    repository.write('file.txt', 'mine\n', one());
    repository.git(['config', 'status.showUntrackedFiles', 'no']);
    expect((await refusal(remove(one()))).details).toMatchObject({ changed: 1, names: ['file.txt'] });
    repository.git(['checkout', '--quiet', '-f', 'HEAD'], one());
    repository.git(['update-index', '--no-assume-unchanged', 'file.txt'], one());
    repository.git(['checkout', '--quiet', '--', 'file.txt'], one());
    repository.write('new', 'mine', one());
    expect((await refusal(remove(one()))).details).toMatchObject({
      changed: 0,
      untracked: 1,
      names: ['new'],
    });
  });

  it('refuses another directory, and a link, in the place of the worktree', async () => {
    renameSync(one(), place('moved'));
    const outside = place('outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'canary'), 'mine');
    symlinkSync(outside, one());
    const why = async () => {
      const { code, details } = await refusal(remove(one()));
      return [code, details?.why];
    };
    expect(await why()).toEqual(['worktree-protected', 'replaced']);
    rmSync(one());
    mkdirSync(one());
    writeFileSync(join(one(), '.git'), `gitdir: ${repository.root}/.git\n`);
    expect(await why()).toEqual(['worktree-protected', 'replaced']);
    expect(existsSync(join(outside, 'canary'))).toBe(true);
  });

  it('forgets exactly the one whose directory is gone, and none that is there or locked', async () => {
    await add('two');
    await add('three');
    expect((await refusal(worktrees.forget(repository.root, one(), soon()))).code).toBe('worktree-conflict');
    repository.git(['worktree', 'lock', '--reason', 'on a disk', place('two')]);
    for (const name of ['one', 'two', 'three']) rmSync(place(name), { recursive: true });
    await worktrees.forget(repository.root, one(), soon());
    const left = [repository.root, place('two'), place('three')];
    expect(new Set(repository.worktrees())).toEqual(new Set(left));
    expect(await refusal(worktrees.forget(repository.root, place('two'), soon()))).toEqual({
      code: 'worktree-locked',
      details: { path: place('two'), reason: 'on a disk' },
    });
  });
});

describe('commits that nothing else reaches', () => {
  it('get a recovery ref of their own, which no later one moves; what a branch reaches gets none', async () => {
    const keep = (id: string, name = 'one') => worktrees.keepReachable(repository.root, id, name, soon());
    await add('one');
    repository.git(['checkout', '--quiet', '--detach'], place('one'));
    expect(await keep(head())).toBeNull();
    const first = repository.commit('alone', place('one'));
    expect(await keep(first)).toBe('refs/roost/recovered/one');
    expect(await keep(first)).toBeNull();
    repository.git(['checkout', '--quiet', '--detach', 'main'], place('one'));
    const second = repository.commit('also alone', place('one'));
    expect(await keep(second)).toBe('refs/roost/recovered/one-2');
    expect(repository.git(['rev-parse', 'refs/roost/recovered/one', 'refs/roost/recovered/one-2'])).toBe(
      `${first}\n${second}`,
    );
    repository.git(['checkout', '--quiet', '--detach', 'main'], place('one'));
    const third = repository.commit('strange name', place('one'));
    expect(await keep(third, '../a b..c.lock')).toBe('refs/roost/recovered/a-b.c');
  });
});
