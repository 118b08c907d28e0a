import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  GIT_DIFF_FILES_MAX,
  GIT_PATCH_BYTES_MAX,
  GitDiff,
  GitRevision,
  RepositoryPath,
  type GitDiffTarget,
} from '@roost/protocol';
import { failureOf } from '../node-for-test.ts';
import { readGitDiff } from './diff.ts';
import { Scratch, SOON } from './scratch-for-test.ts';

const diffOf = async (scratch: Scratch, root: string, what: GitDiffTarget, path?: string) =>
  GitDiff.parse(
    await readGitDiff(
      scratch.source,
      root,
      { what, path: path === undefined ? null : RepositoryPath.parse(path) },
      SOON(),
    ),
  );
const WORKING = { kind: 'working' } as const;
const STAGED = { kind: 'staged' } as const;
const since = (base: string, includeUntracked = true): GitDiffTarget => ({
  kind: 'since',
  base,
  includeUntracked,
});
const LINES = Array.from({ length: 30 }, (_, at) => `line ${at}\n`).join('');

/** Every file below it, with its content. */
function digestOf(directory: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()) {
    hash.update(`${name}\0`);
    if (statSync(join(directory, name)).isFile()) hash.update(readFileSync(join(directory, name)));
  }
  return hash.digest('hex');
}

describe('what changed', () => {
  it('is told apart by what is staged, what is not, and both together with what is untracked', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { both: 'base\n', gone: 'g\n' });
    const base = scratch.git(root, 'rev-parse', 'HEAD').trim();
    scratch.write(root, { both: 'staged\n', added: 'new\n' });
    scratch.git(root, 'add', '.');
    scratch.write(root, {
      both: 'working\n',
      'dir/untracked': '1\n2\n',
      '.gitignore': 'ignored\n',
      ignored: 'x',
    });
    rmSync(join(root, 'gone'));
    const working = await diffOf(scratch, root, WORKING);
    expect(working.files).toMatchObject([
      { path: 'both', status: 'modified', additions: 1, deletions: 1 },
      { path: 'gone', status: 'deleted', mode: null, deletions: 1 },
    ]);
    expect(working.patch).toContain('-staged\n+working\n');
    expect(working).toMatchObject({ base: null, filesCut: false, patchCut: false, patchLossy: false });
    const staged = await diffOf(scratch, root, STAGED);
    expect(staged.files.map(({ path, status }) => [path, status])).toEqual([
      ['added', 'added'],
      ['both', 'modified'],
    ]);
    expect(staged.base).toBe(base);
    const all = await diffOf(scratch, root, since('HEAD'));
    expect(all.files.map(({ path, status }) => [path, status])).toEqual([
      ['.gitignore', 'added'],
      ['added', 'added'],
      ['both', 'modified'],
      ['dir/untracked', 'added'],
      ['gone', 'deleted'],
    ]);
    expect(all.patch).toContain('+++ b/dir/untracked\n@@ -0,0 +1,2 @@\n+1\n+2\n');
    const tracked = await diffOf(scratch, root, since(base, false));
    expect(tracked.files.map(({ path }) => path)).toEqual(['added', 'both', 'gone']);
  });

  it('is seen of a file that was written in the same moment as the index, at the same length', async () => {
    const scratch = new Scratch();
    for (let round = 0; round < 5; round++) {
      const root = scratch.repository(`r${round}`, { a: '1' });
      scratch.write(root, { a: '2' });
      for (const what of [WORKING, since('HEAD')]) {
        expect((await diffOf(scratch, root, what)).files).toMatchObject([{ path: 'a' }]);
      }
    }
  });

  it('leaves the repository as it is, byte for byte, even when git would refresh its index', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a', b: 'b', c: 'c' });
    // Another moment, the same content.
    for (const name of ['a', 'b']) {
      rmSync(join(root, name));
      scratch.write(root, { [name]: name });
      chmodSync(join(root, name), 0o600);
    }
    scratch.write(root, { c: 'changed', untracked: 'u' });
    const before = digestOf(root);
    const kinds = [WORKING, STAGED, since('HEAD'), { kind: 'commit', commit: 'HEAD' }] as const;
    for (const what of kinds) {
      const { files } = await diffOf(scratch, root, what);
      expect(files.every(({ path }) => !['a', 'b'].includes(path) || what.kind === 'commit')).toBe(true);
    }
    expect(digestOf(root)).toBe(before);
  });

  it.each([
    ['a text', { text: 'text\n' }],
    ['an empty file', { empty: '' }],
    ['a binary file', { 'some.bin': '\0bin' }],
    [
      'a binary file that a text names as one that differs',
      { 'some.bin': '\0bin', shown: 'x\nBinary files \n' },
    ],
  ])('is not seen of %s that was only touched, beside a binary file that changed', async (_, touched) => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { ...touched, 'changed.bin': '\0one', 'gone.bin': '\0gone' });
    const later = Date.now() / 1_000 + 60;
    for (const name of Object.keys(touched)) utimesSync(join(root, name), later, later);
    scratch.write(root, { 'changed.bin': '\0two' });
    rmSync(join(root, 'gone.bin'));
    const { files } = await diffOf(scratch, root, since('HEAD'));
    expect(files.map(({ path }) => path)).toEqual(['changed.bin', 'gone.bin']);
  });

  it('keeps renames, copies, modes, links and binary files apart, whatever the configuration says', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', {
      old: LINES,
      source: LINES.toUpperCase(),
      run: 'r\n',
      data: 'd\0d',
    });
    for (const [name, value] of [
      ['diff.renames', 'false'],
      ['diff.noprefix', 'true'],
      ['diff.mnemonicPrefix', 'true'],
      ['diff.context', '0'],
      ['color.ui', 'always'],
      ['diff.wordRegex', '.'],
      ['diff.orderFile', join(root, 'run')],
      ['core.quotepath', 'true'],
      ['diff.relative', 'false'],
    ] as const)
      scratch.git(root, 'config', name, value);
    scratch.git(root, 'mv', 'old', 'renamed ü');
    scratch.write(root, { source: `${LINES.toUpperCase()}more\n`, copy: LINES.toUpperCase(), data: 'e\0e' });
    chmodSync(join(root, 'run'), 0o755);
    symlinkSync('/etc/passwd', join(root, 'link'));
    const diff = await diffOf(scratch, root, since('HEAD'));
    expect(diff.files).toMatchObject([
      { path: 'copy', previousPath: 'source', status: 'copied', additions: 0, deletions: 0 },
      { path: 'data', binary: true, additions: null, deletions: null },
      { path: 'link', status: 'added', mode: '120000' },
      { path: 'renamed ü', previousPath: 'old', status: 'renamed' },
      { path: 'run', previousMode: '100644', mode: '100755', additions: 0 },
      { path: 'source', status: 'modified', additions: 1 },
    ]);
    expect(diff.patch).toContain('+/etc/passwd\n');
    expect(diff.patch).not.toContain('root:');
    expect(diff.patch).toContain('rename from old\nrename to renamed ü\n');
    expect(diff.patch).toContain(' LINE 29\n+more\n');
    expect(diff.patch).not.toContain('\x1b');
  });

  it('in a commit is held against its first parent; the first commit is all new', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a\n' });
    const first = scratch.git(root, 'rev-parse', 'HEAD').trim();
    scratch.git(root, 'checkout', '-q', '-b', 'side');
    scratch.commit(root, { side: 's\n' });
    scratch.git(root, 'checkout', '-q', 'main');
    const second = scratch.commit(root, { a: 'b\n' });
    scratch.git(root, 'merge', '-q', '--no-ff', '-m', 'merged', 'side');
    const of = (commit: string) => diffOf(scratch, root, { kind: 'commit', commit });
    expect(await of(first)).toMatchObject({ base: null, files: [{ path: 'a', status: 'added' }] });
    expect(await of('HEAD~1')).toMatchObject({ base: first, files: [{ path: 'a', status: 'modified' }] });
    expect(await of('HEAD')).toMatchObject({ base: second, files: [{ path: 'side', status: 'added' }] });
    scratch.git(scratch.path, 'clone', '-q', '--bare', root, 'bare');
    expect(await diffOf(scratch, scratch.at('bare'), { kind: 'commit', commit: 'main~1' })).toMatchObject({
      base: first,
    });
    expect(await failureOf(diffOf(scratch, scratch.at('bare'), WORKING))).toBe('no-working-tree');
  });

  it('of a path, and of a workspace inside a repository, is told from there; a path is never a pattern', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { 'sub/a': 'a', 'sub/*': 's', top: 't' });
    scratch.write(root, { 'sub/a': 'b', 'sub/*': 'changed', top: 'changed', 'sub/new/x': 'x' });
    const inside = await diffOf(scratch, join(root, 'sub'), since('HEAD'));
    expect(inside.files.map(({ path }) => path)).toEqual(['*', 'a', 'new/x']);
    expect(inside.patch).toContain('--- a/a\n+++ b/a\n');
    expect((await diffOf(scratch, root, WORKING, 'sub/*')).files.map(({ path }) => path)).toEqual(['sub/*']);
    expect((await diffOf(scratch, root, WORKING, ':(top)')).files).toEqual([]);
  });

  it('before the first commit is what is staged, and what is there', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r');
    expect((await diffOf(scratch, root, WORKING)).files).toEqual([]);
    scratch.write(root, { a: 'a\n' });
    scratch.git(root, 'add', 'a');
    expect(await diffOf(scratch, root, STAGED)).toMatchObject({
      base: null,
      files: [{ path: 'a', status: 'added' }],
    });
    expect(await failureOf(diffOf(scratch, root, since('HEAD')))).toBe('invalid-revision');
  });

  it('in an unfinished merge names each conflicting file once', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { c: 'base\n' });
    scratch.git(root, 'checkout', '-q', '-b', 'theirs');
    scratch.commit(root, { c: 'theirs\n' });
    scratch.git(root, 'checkout', '-q', 'main');
    scratch.commit(root, { c: 'ours\n' });
    expect(() => scratch.git(root, 'merge', 'theirs')).toThrow();
    const { files } = await diffOf(scratch, root, WORKING);
    expect(files).toMatchObject([{ path: 'c', status: 'conflicted', additions: 4, deletions: 0 }]);
  });

  it('in a submodule is which commit it has; a repository inside is no obstacle', async () => {
    const scratch = new Scratch();
    const inner = scratch.repository('inner', { i: 'i' });
    const root = scratch.repository('r', { a: 'a' });
    scratch.git(root, 'submodule', '--quiet', 'add', inner, 'module');
    scratch.commit(root, {});
    scratch.write(root, { 'module/i': 'changed' });
    scratch.git(root, 'init', '-q', join(root, 'nested'));
    scratch.write(root, { 'nested/x': 'x', after: 'y' });
    expect((await diffOf(scratch, root, since('HEAD'))).files.map(({ path }) => path)).toEqual(['after']);
    scratch.commit(join(root, 'module'), {});
    expect((await diffOf(scratch, root, WORKING)).files).toMatchObject([{ path: 'module', mode: '160000' }]);
  });

  it('is cut at the end of a line, and one path alone shows more of it', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a\n' });
    scratch.write(root, { a: 'ü'.repeat(40).concat('\n').repeat(9_000), b: 'last\n' });
    const all = await diffOf(scratch, root, since('HEAD'));
    expect(all).toMatchObject({ patchCut: true, filesCut: false, patchLossy: false });
    expect(Buffer.byteLength(all.patch)).toBeLessThanOrEqual(GIT_PATCH_BYTES_MAX);
    expect(all.patch.endsWith('ü\n')).toBe(true);
    expect(all.files).toMatchObject([{ additions: 9_000 }, { additions: 1 }]);
    expect(await diffOf(scratch, root, since('HEAD'), 'b')).toMatchObject({
      patchCut: false,
      files: [{ path: 'b' }],
    });
    scratch.write(root, { a: 'no line ends here '.repeat(200_000) });
    const endless = await diffOf(scratch, root, WORKING);
    expect(endless.patchCut).toBe(true);
    expect(endless.patch.endsWith('-a\n')).toBe(true);
  });

  it('that is no text is shown as far as it goes, and said to be', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a\n' });
    writeFileSync(join(root, 'a'), Buffer.from('caf\xe9\n', 'latin1'));
    writeFileSync(Buffer.from([...Buffer.from(`${root}/x`), 0xff]), 'x');
    const diff = await diffOf(scratch, root, since('HEAD'));
    expect(diff).toMatchObject({ unnameable: 1, patchLossy: true, files: [{ path: 'a' }] });
    expect(diff.patch).toContain('+caf\ufffd\n');
    // Grows by being shown.
    writeFileSync(join(root, 'a'), Buffer.from(`${'\xe9'.repeat(70)}\n`.repeat(5_000), 'latin1'));
    const grown = await diffOf(scratch, root, WORKING);
    expect(grown.patchCut).toBe(true);
    expect(Buffer.byteLength(grown.patch)).toBeLessThanOrEqual(GIT_PATCH_BYTES_MAX);
  });

  it('of more files than are told is cut, and says so', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    mkdirSync(join(root, 'many'));
    for (let at = 0; at <= GIT_DIFF_FILES_MAX; at++) writeFileSync(join(root, 'many', `f${at}`), '');
    const { files, filesCut } = await diffOf(scratch, root, since('HEAD'));
    expect([files.length, filesCut]).toEqual([GIT_DIFF_FILES_MAX, true]);
  });

  it('is refused for what is no commit, no repository, or a damaged index', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    for (const base of ['nothing', 'HEAD:a', 'HEAD^{tree}', 'a..b', '1'.repeat(40)]) {
      expect(await failureOf(diffOf(scratch, root, since(base)))).toBe('invalid-revision');
    }
    for (const revision of ['', '-n1', '--output=x', 'a\nb', 'a\0b']) {
      expect(GitRevision.safeParse(revision).success).toBe(false);
    }
    expect(await failureOf(diffOf(scratch, scratch.path, WORKING))).toBe('not-git-repository');
    writeFileSync(join(root, '.git/index'), 'no index at all, but as long as one has to be, and longer');
    expect(await failureOf(diffOf(scratch, root, WORKING))).toBe('git-failed');
    rmSync(join(root, '.git/index'));
    symlinkSync('/dev/zero', join(root, '.git/index'));
    expect(await failureOf(diffOf(scratch, root, WORKING))).toBe('git-failed');
  });
});
