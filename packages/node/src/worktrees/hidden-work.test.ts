// How work could hide from git's own look at a worktree, and be deleted with it.
import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
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

describe('what git’s own status does not see of a worktree', () => {
  beforeEach(async () => {
    await add('one');
  });
  const one = () => place('one');
  const refusedAs = async (mayDiscard?: (name: string) => boolean) => {
    const before = hashTree(one());
    const { code, details } = await refusal(remove(one(), mayDiscard));
    expect(hashTree(one())).toBe(before);
    return [code, details];
  };

  it('is a repository in a directory whose files it tracks itself', async () => {
    repository.write('deep/src/a.txt', 'a', one());
    repository.commit('deep', one());
    repository.git(['init', '--quiet', join(one(), 'deep/src')]);
    repository.git(['config', 'user.name', 'Test'], join(one(), 'deep/src'));
    repository.git(['config', 'user.email', 'test@localhost'], join(one(), 'deep/src'));
    repository.commit('of its own', join(one(), 'deep/src'));
    expect(repository.git(['status', '--porcelain', '--ignored'], one())).toBe('');
    expect(await refusedAs()).toEqual([
      'worktree-dirty',
      { path: one(), repositories: 1, names: ['deep/src/'] },
    ]);
  });

  it.each(['ignored/bare.git', 'ignored'])('is a bare repository among ignored files: %s', async (name) => {
    repository.git(['init', '--quiet', '--bare', join(one(), name)]);
    expect(await refusedAs(() => true)).toEqual([
      'worktree-dirty',
      { path: one(), repositories: 1, names: [`${name}/`] },
    ]);
  });

  it('is everything in it, when a setting of the worktree says that its files are elsewhere', async () => {
    repository.git(['clone', '--quiet', repository.root, place('decoy')]);
    repository.git(['config', 'extensions.worktreeConfig', 'true']);
    repository.git(['config', '--worktree', 'core.worktree', place('decoy')], one());
    repository.write('a.secret', 'mine', one());
    expect(await refusedAs()).toMatchObject(['worktree-dirty', { ignored: 1, names: ['a.secret'] }]);
    repository.git(['update-index', '--assume-unchanged', 'file.txt'], one());
    repository.write('file.txt', 'mine\n', one());
    expect(await refusedAs(() => true)).toMatchObject([
      'worktree-dirty',
      { changed: 1, names: ['file.txt'] },
    ]);
    const decoy = hashTree(place('decoy'));
    rmSync(join(one(), 'file.txt'));
    const [, entry] = await worktrees.list(repository.root, soon());
    if (entry === undefined) throw new Error('it is not listed');
    await worktrees.restore(repository.root, entry, soon());
    expect(existsSync(join(one(), 'file.txt'))).toBe(true);
    expect(hashTree(place('decoy'))).toBe(decoy);
  });

  it('is a file of the same size whose time was set back, where git was told to trust that', async () => {
    repository.git(['config', 'core.trustctime', 'false']);
    const file = join(one(), 'file.txt');
    const long = new Date(Date.now() - 60_000);
    utimesSync(file, long, long);
    repository.git(['update-index', '--refresh'], one());
    const { ctimeMs } = statSync(file);
    // Git compares whole seconds.
    do {
      writeFileSync(file, 'two\n');
      utimesSync(file, long, long);
    } while (Math.floor(statSync(file).ctimeMs / 1_000) === Math.floor(ctimeMs / 1_000));
    expect(repository.git(['status', '--porcelain'], one())).toBe('');
    expect(await refusedAs()).toMatchObject(['worktree-dirty', { changed: 1, names: ['file.txt'] }]);
  });

  it('is a link in the place of a file that it was told not to look at', async () => {
    repository.git(['update-index', '--assume-unchanged', 'file.txt'], one());
    writeFileSync(place('same'), 'one\n');
    rmSync(join(one(), 'file.txt'));
    symlinkSync(place('same'), join(one(), 'file.txt'));
    expect(await refusedAs()).toMatchObject(['worktree-dirty', { changed: 1, names: ['file.txt'] }]);
  });
});

describe('what a worktree remembers in the repository’s own directory', () => {
  beforeEach(async () => {
    await add('one');
  });
  const one = () => place('one');
  const keep = async () => {
    const entry = (await worktrees.list(repository.root, soon())).find(({ path }) => path === one());
    if (entry === undefined) throw new Error('it is not listed');
    return worktrees.keepCommits(repository.root, entry, soon());
  };
  const alone = (message: string) => {
    const tree = repository.git(['rev-parse', 'HEAD^{tree}'], one());
    return repository.git(['commit-tree', '-p', 'HEAD', '-m', message, tree], one());
  };
  const isKept = (id: string) => repository.git(['for-each-ref', '--contains', id, 'refs/roost/']) !== '';

  it('is kept: refs of its own, and what an unfinished rebase put aside', async () => {
    const own = alone('own');
    repository.git(['update-ref', 'refs/worktree/deep/mine', own], one());
    repository.write('file.txt', 'mine\n', one());
    repository.commit('work', one());
    repository.write('file.txt', 'not committed\n', one());
    repository.try(['rebase', '--autostash', '--exec', 'false', 'HEAD~1'], one());
    const aside = readFileSync(
      join(repository.root, '.git/worktrees/one/rebase-merge/autostash'),
      'utf8',
    ).trim();
    rmSync(one(), { recursive: true });
    await keep();
    await worktrees.forget(repository.root, one(), soon());
    expect([isKept(own), isKept(aside)]).toEqual([true, true]);
  });

  it('is kept however long the log of its head has become since', async () => {
    const lost = alone('lost');
    const log = join(repository.root, '.git/worktrees/one/logs/HEAD');
    const at = head();
    const entry = (id: string) => `${at} ${id} T <t@l> 1790000000 +0000\tcheckout: moving from a to b\n`;
    appendFileSync(log, entry(lost) + entry(at).repeat(20_000));
    // Old ids that were collected since do no harm, and take places only.
    for (let n = 1; n < 9_000; n += 1) appendFileSync(log, entry(n.toString(16).padStart(40, 'a')));
    await keep();
    expect(isKept(lost)).toBe(true);
  });

  it('is kept under one ref when it is much', async () => {
    const many = Array.from({ length: 12 }, (_, n) => alone(`number ${n}`));
    for (const id of many) repository.git(['checkout', '--quiet', '--detach', id], one());
    repository.git(['checkout', '--quiet', 'one'], one());
    expect(await keep()).toEqual(['refs/roost/recovered/one']);
    expect(many.filter((id) => !isKept(id))).toEqual([]);
    expect(await keep()).toEqual([]);
  });

  it('stays when it is the repository of a submodule, also where the worktree is gone', async () => {
    repository.git(['init', '--quiet', place('library')]);
    repository.git(
      ['-c', 'user.name=T', '-c', 'user.email=t@l', 'commit', '--quiet', '--allow-empty', '-m', 'l'],
      place('library'),
    );
    repository.git(
      ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', place('library'), 'sub'],
      one(),
    );
    repository.commit('with a submodule', one());
    renameSync(one(), place('moved'));
    const before = hashTree(join(repository.root, '.git/worktrees/one'));
    expect(await refusal(worktrees.forget(repository.root, one(), soon()))).toEqual({
      code: 'worktree-dirty',
      details: { path: one(), submodules: 1 },
    });
    expect(hashTree(join(repository.root, '.git/worktrees/one'))).toBe(before);
  });
});

it('protects the home directory also where it is reached over a link', async () => {
  await add('real-home');
  symlinkSync(place('real-home'), place('home-link'));
  const asked = new GitWorktrees({ environment: { ...repository.environment, HOME: place('home-link') } });
  expect(await refusal(asked.remove(repository.root, place('real-home'), soon()))).toEqual({
    code: 'worktree-protected',
    details: { path: place('real-home'), why: 'holds-more' },
  });
});
