import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readGitDiff } from './diff.ts';
import { isPlain, readPlainRepository } from './plain-repository.ts';
import { Scratch, SOON } from './scratch-for-test.ts';
import { findRepository } from './repository.ts';
import { readGitStatus } from './status.ts';

const since = { what: { kind: 'since', base: 'HEAD', includeUntracked: false }, path: null } as const;

/** How many git processes the work starts. */
async function countGit(
  scratch: Scratch,
  work: (source: Scratch['source']) => Promise<unknown>,
): Promise<number> {
  const log = scratch.at(`calls-${performance.now()}`);
  writeFileSync(log, '');
  const real = join(scratch.git(scratch.path, '--exec-path').trim(), 'git');
  await work(scratch.withProgram('git', `echo >> '${log}'; exec '${real}' "$@"`));
  return readFileSync(log, 'utf8').length;
}

describe('what the files tell of a repository', () => {
  it('is what git says: at its top, further down, in linked worktrees of it and of one without a working tree', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { 'sub/ü/a': 'a', 'colon:x/b': 'b' });
    scratch.git(root, 'worktree', 'add', '-q', scratch.at('linked'));
    scratch.git(scratch.path, 'clone', '-q', '--bare', root, 'bare');
    scratch.git(scratch.at('bare'), 'worktree', 'add', '-q', scratch.at('of-bare'));
    scratch.git(root, 'submodule', '--quiet', 'add', root, 'module');
    const told = [];
    for (const directory of [
      root,
      join(root, 'sub/ü'),
      join(root, 'colon:x'),
      scratch.at('linked'),
      scratch.at('linked/sub'),
      scratch.at('of-bare'),
      scratch.at('bare'),
      join(root, 'module'),
      join(root, '.git'),
      join(root, '.git/refs'),
    ]) {
      const plain = await readPlainRepository(directory);
      if (plain === null) continue;
      told.push(directory);
      expect(plain).toMatchObject(await findRepository(scratch.source, directory, SOON()));
    }
    expect(told).toEqual([
      root,
      join(root, 'sub/ü'),
      join(root, 'colon:x'),
      scratch.at('linked'),
      scratch.at('linked/sub'),
      scratch.at('of-bare'),
    ]);
  });

  it('spares all processes but the one that compares', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: scratch.path });
    scratch.write(root, { a: 'b' });
    expect(await countGit(scratch, (source) => readGitStatus(source, root, SOON()))).toBe(1);
    // Once, git is asked whether HEAD is a commit.
    expect(await countGit(scratch, (source) => readGitDiff(source, root, since, SOON()))).toBe(2);
    expect(await countGit(scratch, (source) => readGitDiff(source, root, since, SOON()))).toBe(1);
  });

  it.each([
    [
      'in its settings',
      (_: Scratch, root: string, settings: string) => {
        appendFileSync(join(root, '.git/config'), settings);
      },
    ],
    [
      'in a file that they include',
      (scratch: Scratch, root: string, settings: string) => {
        writeFileSync(scratch.at('more'), settings);
        appendFileSync(join(root, '.git/config'), `[IncludeIf "gitdir:/"]\n\tpath = ${scratch.at('more')}\n`);
      },
    ],
    [
      'in the settings of the worktree',
      (_: Scratch, root: string, settings: string) => {
        appendFileSync(join(root, '.git/config'), '[extensions]\n\tworktreeConfig = true\n');
        writeFileSync(join(root, '.git/config.worktree'), settings);
      },
    ],
    [
      'in settings that all worktrees share',
      (scratch: Scratch, root: string, settings: string) => {
        mkdirSync(scratch.at('common/info'), { recursive: true });
        for (const name of ['objects', 'refs', 'info/attributes'])
          renameSync(join(root, '.git', name), scratch.at('common', name));
        writeFileSync(scratch.at('common/config'), settings);
        writeFileSync(join(root, '.git/commondir'), '../../common\n');
      },
    ],
    [
      'in a repository above, when this one is none any more',
      (scratch: Scratch, root: string, settings: string) => {
        scratch.git(scratch.path, 'init', '-q');
        renameSync(join(root, '.git/HEAD'), join(root, '.git/WAS_HEAD'));
        scratch.git(root, 'add', 'a');
        appendFileSync(scratch.at('.git/config'), settings);
        renameSync(join(root, '.git/info/attributes'), scratch.at('.git/info/attributes'));
      },
    ],
  ] as const)('is read anew each time: a filter that comes along %s is not run', async (_, put) => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a\n' });
    const canary = scratch.at('canary');
    writeFileSync(scratch.at('evil'), `#!/bin/sh\necho >> '${canary}'\ncat\n`, { mode: 0o755 });
    appendFileSync(join(root, '.git/info/attributes'), '* filter=evil\n');
    const read = async () => {
      scratch.write(root, { a: 'b\n' });
      await readGitDiff(scratch.source, root, { what: { kind: 'working' }, path: null }, SOON());
      return readGitStatus(scratch.source, root, SOON());
    };
    expect(await readPlainRepository(root)).not.toBe(null);
    expect(await read()).toMatchObject({ entries: [{ path: 'a' }] });
    put(scratch, root, `[filter "evil"]\n\tclean = ${scratch.at('evil')}\n`);
    expect(await read()).toMatchObject({ entries: [{ path: 'a' }] });
    expect(existsSync(canary)).toBe(false);
    // The trap works: git by itself walks into it.
    scratch.git(root, 'status');
    expect(existsSync(canary)).toBe(true);
  });

  it('is nothing where anything is unusual', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    const config = join(root, '.git/config');
    symlinkSync(root, scratch.at('link'));
    expect(await readPlainRepository(scratch.at('link'))).toBe(null);
    expect(await readPlainRepository(scratch.path)).toBe(null);
    writeFileSync(join(root, 'HEAD'), '');
    expect(await readPlainRepository(root)).toBe(null);
    rmSync(join(root, 'HEAD'));
    expect(await readPlainRepository(root)).not.toBe(null);
    renameSync(config, scratch.at('config'));
    expect(await readPlainRepository(root)).toBe(null);
    symlinkSync(scratch.at('config'), config);
    expect(await readPlainRepository(root)).toBe(null);
    rmSync(config);
    writeFileSync(config, 'x'.repeat(1024 * 1024));
    expect(await readPlainRepository(root)).toBe(null);
  });

  it.each([
    ['[core]\n\tbare = false\n', true, true],
    ['[branch "bare-worktree-1"]\n\tremote = filter\n', true, true],
    ['[core]\n\tbare = true\n', false, true],
    ['[core]\n\tbare\n', false, true],
    ['[core]\n\tbare = false\n\tBare = yes\n', false, true],
    ['[core] worktree=/\n', false, true],
    ['[extensions]\n\tworktreeConfig = true\n[core]\n\tworktree = /\n', false, false],
    ['[extensions]\n\trefStorage = reftable\n', false, false],
    ['[FILTER "x"]\n\tclean = y\n', false, false],
    ['[filter.x]clean = y\n', false, false],
    ['[core]\n\tbare = false\r\n[include]path = y\r\n', false, false],
  ])('is not taken from settings that say more: %j', (settings, main, linked) => {
    expect([isPlain(settings, false), isPlain(settings, true)]).toEqual([main, linked]);
  });
});

describe('a base that was a commit once', () => {
  it('is no commit any more when it is gone', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    const id = scratch.git(root, 'rev-parse', 'HEAD').trim();
    const what = { kind: 'since', base: id, includeUntracked: false } as const;
    expect((await readGitDiff(scratch.source, root, { what, path: null }, SOON())).base).toBe(id);
    rmSync(join(root, '.git/objects', id.slice(0, 2), id.slice(2)));
    await expect(readGitDiff(scratch.source, root, { what, path: null }, SOON())).rejects.toMatchObject({
      failure: { code: 'invalid-revision' },
    });
  });

  it('is no name of a file, when there is no repository any more', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    const { base } = await readGitDiff(scratch.source, root, since, SOON());
    mkdirSync(scratch.at('elsewhere'));
    writeFileSync(scratch.at('elsewhere/a'), 'secret');
    symlinkSync(scratch.at('elsewhere'), join(root, base ?? ''));
    rmSync(join(root, '.git/HEAD'));
    const what = { kind: 'since', base: base ?? '', includeUntracked: false } as const;
    await expect(readGitDiff(scratch.source, root, { what, path: null }, SOON())).rejects.toMatchObject({
      failure: { code: 'not-git-repository' },
    });
  });

  it('named HEAD is where HEAD is now', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    const bases = [];
    for (const text of ['b', 'c', 'd']) {
      const commit = scratch.commit(root, { a: text });
      bases.push([commit, (await readGitDiff(scratch.source, root, since, SOON())).base]);
    }
    expect(bases.every(([commit, base]) => commit === base)).toBe(true);
  });
});
