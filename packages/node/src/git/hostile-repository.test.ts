// A repository is a directory that anybody may have written. Reading it runs no program that it names.
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readGitDiff } from './diff.ts';
import { readGitHistory } from './history.ts';
import { overridesOf } from './local-filters.ts';
import { Scratch, SOON } from './scratch-for-test.ts';
import { readGitStatus } from './status.ts';

const HOOKS = [
  'post-index-change',
  'pre-commit',
  'post-checkout',
  'reference-transaction',
  'fsmonitor-watchman',
];

/** Every read there is, of a working tree whose files have all to be looked at again. */
async function readAll(scratch: Scratch, root: string): Promise<void> {
  const { source } = scratch;
  const touch = () =>
    scratch.write(root, { 'a.txt': 'a\n', 'b.txt': `${performance.now()}\n`, 'c.bin': 'c\n' });
  const kinds = [
    { kind: 'working' },
    { kind: 'staged' },
    { kind: 'since', base: 'HEAD', includeUntracked: true },
    { kind: 'commit', commit: 'HEAD' },
  ] as const;
  touch();
  expect((await readGitStatus(source, root, SOON())).kind).toBe('repository');
  await readGitHistory(source, root, { path: null, cursor: null, limit: 50 }, SOON());
  for (const what of kinds) {
    touch();
    await readGitDiff(source, root, { what, path: null }, SOON());
  }
}

describe('a hostile repository', () => {
  it('runs nothing, whatever its configuration, attributes and hooks name', async () => {
    const scratch = new Scratch();
    const inner = scratch.repository('inner', { 'i.txt': 'i' });
    const root = scratch.repository('r', { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.bin': 'c\n', 'd.txt': 'd\n' });
    scratch.git(root, 'submodule', '--quiet', 'add', inner, 'module');
    scratch.commit(root, { 'b.txt': 'committed\n' });
    scratch.git(root, 'checkout', '-q', '-b', 'side');
    scratch.commit(root, { 'd.txt': 'side\n' });
    scratch.git(root, 'checkout', '-q', 'main');
    scratch.commit(root, { 'b.txt': 'main\n' });
    scratch.git(root, 'merge', '-q', '--no-ff', '-m', 'a merge', 'side');
    const canary = scratch.at('canary');
    const program = scratch.at('evil');
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${canary}'\ncat\n`);
    chmodSync(program, 0o755);
    const settings = [
      ['core.fsmonitor', program],
      ['core.pager', program],
      ['core.editor', program],
      ['core.sshCommand', program],
      ['core.gitProxy', program],
      ['core.askPass', program],
      ['core.hooksPath', scratch.at('hooks')],
      ['core.alternateRefsCommand', program],
      ['credential.helper', `!${program}`],
      ['diff.external', program],
      ['diff.evil.command', program],
      ['diff.evil.textconv', program],
      ['diff.submodule', 'diff'],
      ['diff.ignoreSubmodules', 'none'],
      ['status.submoduleSummary', 'true'],
      ['filter.evil.clean', program],
      ['filter.evil.smudge', program],
      ['filter.evil.required', 'true'],
      ['filter.proc.process', program],
      ['filter.a=b.clean', program],
      ['filter..clean', program],
      ['merge.evil.driver', program],
      ['merge.default', 'evil'],
      ['log.showSignature', 'true'],
      ['log.diffMerges', 'remerge'],
      ['log.follow', 'true'],
      ['gpg.program', program],
      ['gpg.ssh.program', program],
      ['pager.log', program],
      ['pager.diff', program],
      ['pager.status', program],
      ['interactive.diffFilter', program],
      ['uploadpack.packObjectsHook', program],
      ['alias.status', `!${program}`],
      ['alias.log', `!${program}`],
      ['trailer.x.command', program],
      ['protocol.allow', 'always'],
      ['protocol.ext.allow', 'always'],
    ] as const;
    for (const at of [root, join(root, 'module')]) {
      for (const [name, value] of settings) scratch.git(at, 'config', name, value);
    }
    mkdirSync(scratch.at('hooks'));
    for (const directory of [scratch.at('hooks'), join(root, '.git/hooks')]) {
      mkdirSync(directory, { recursive: true });
      for (const hook of HOOKS)
        writeFileSync(join(directory, hook), `#!/bin/sh\necho hook >> '${canary}'\n`, { mode: 0o755 });
    }
    const attributes =
      '*.txt filter=evil diff=evil merge=evil\n*.bin filter=proc diff=evil\nd.txt filter=a=b\nnew* filter=""\n';
    appendFileSync(join(root, '.git/info/attributes'), attributes);
    writeFileSync(join(root, 'module/.gitattributes'), attributes);
    scratch.write(root, { 'module/i.txt': 'changed', 'd.txt': 'changed', new: 'n', 'new.txt': 'n' });
    // A commit whose signature would be checked.
    const tree = scratch.git(root, 'rev-parse', 'HEAD^{tree}').trim();
    const parent = scratch.git(root, 'rev-parse', 'HEAD').trim();
    const person = 'E <e@e> 1767225600 +0000';
    const signed = `tree ${tree}\nparent ${parent}\nauthor ${person}\ncommitter ${person}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n`;
    const id = scratch
      .gitWith({ input: signed }, root, 'hash-object', '-t', 'commit', '-w', '--stdin')
      .trim();
    writeFileSync(join(root, '.git/refs/heads/main'), `${id}\n`);
    rmSync(canary, { force: true });
    await readAll(scratch, root);
    await readAll(scratch, root);
    expect(existsSync(canary)).toBe(false);

    // The trap works: git by itself walks into it.
    scratch.write(root, { 'a.txt': 'a \n' });
    expect(() =>
      execFileSync('git', ['-C', root, 'diff'], {
        env: { PATH: process.env.PATH, HOME: scratch.at('home') },
        stdio: 'ignore',
      }),
    ).not.toThrow();
    expect(existsSync(canary)).toBe(true);
  });

  it('that keeps a part of its objects elsewhere fetches none', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { 'a.txt': 'a\n' });
    const old = scratch.git(root, 'rev-parse', 'HEAD:a.txt').trim();
    scratch.commit(root, { 'a.txt': 'b\n' });
    const canary = scratch.at('canary');
    const program = scratch.at('evil');
    writeFileSync(program, `#!/bin/sh\necho "$*" >> '${canary}'\nexit 1\n`);
    chmodSync(program, 0o755);
    const take = (url: string) => {
      scratch.git(root, 'config', 'remote.evil.url', url);
      return readGitDiff(
        scratch.source,
        root,
        { what: { kind: 'commit', commit: 'HEAD' }, path: null },
        SOON(),
      );
    };
    for (const [name, value] of [
      ['core.repositoryFormatVersion', '1'],
      ['extensions.partialClone', 'evil'],
      ['remote.evil.promisor', 'true'],
      ['remote.evil.uploadpack', program],
      ['core.sshCommand', program],
      ['protocol.allow', 'always'],
      ['protocol.ext.allow', 'always'],
    ] as const)
      scratch.git(root, 'config', name, value);
    rmSync(join(root, '.git/objects', old.slice(0, 2), old.slice(2)));
    for (const url of ['ssh://evil/x', `ext::${program} %S`, scratch.at('elsewhere')]) {
      await expect(take(url)).rejects.toMatchObject({ failure: { code: 'git-failed' } });
    }
    expect(existsSync(canary)).toBe(false);
  });

  it('that claims a working tree elsewhere shows nothing of it', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a\n' });
    scratch.write(scratch.path, { 'elsewhere/secret': 's\n', secret: 's\n' });
    const seen = async () =>
      JSON.stringify([
        await readGitStatus(scratch.source, root, SOON()),
        await readGitDiff(
          scratch.source,
          root,
          { what: { kind: 'since', base: 'HEAD', includeUntracked: true }, path: null },
          SOON(),
        ).catch(String),
      ]);
    for (const elsewhere of [scratch.at('elsewhere'), scratch.path, '/']) {
      scratch.git(root, 'config', 'core.worktree', elsewhere);
      expect(await seen()).not.toContain('secret');
    }
  });
});

describe('filters', () => {
  const fields = (...texts: string[]) => Buffer.from(texts.map((text) => `${text}\0`).join(''));

  it('of the repository give way to those of the person, or to nothing; those of the person stay', () => {
    const settings = overridesOf(
      fields(
        ...['system', 'filter.lfs.smudge\nsystem'],
        ...['global', 'filter.lfs.clean\ngit-lfs clean'],
        ...['global', 'filter.lfs.required\ntrue'],
        ...['local', 'filter.lfs.clean\nevil'],
        ...['worktree', 'filter.own.x.process\nevil\nmore'],
        ...['local', 'filter.own.x.required'],
        ...['local', 'filter.own.x.other\nevil'],
      ),
    );
    expect(settings).toEqual([
      { name: 'filter.lfs.clean', value: 'git-lfs clean' },
      { name: 'filter.own.x.process', value: '' },
      { name: 'filter.own.x.required', value: 'false' },
    ]);
  });

  it('that cannot be named in return are a failure', () => {
    const bytes = Buffer.concat([fields('local'), Buffer.from('filter.\xff.clean\nevil\0', 'latin1')]);
    expect(() => overridesOf(bytes)).toThrow('git-failed');
  });
});
