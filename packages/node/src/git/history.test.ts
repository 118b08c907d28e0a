import { describe, expect, it } from 'vitest';
import { GIT_SUBJECT_BYTES_MAX, GitCommit, RepositoryPath, type GitHistoryPage } from '@roost/protocol';
import { failureOf } from '../node-for-test.ts';
import { readGitHistory } from './history.ts';
import { Scratch, SOON } from './scratch-for-test.ts';

const pageOf = (
  scratch: Scratch,
  root: string,
  more: { cursor?: string; limit?: number; path?: string } = {},
) =>
  readGitHistory(
    scratch.source,
    root,
    {
      path: more.path === undefined ? null : RepositoryPath.parse(more.path),
      cursor: more.cursor ?? null,
      limit: more.limit ?? 50,
    },
    SOON(),
  );

async function allOf(
  scratch: Scratch,
  root: string,
  limit: number,
  between: () => unknown = String,
): Promise<string[]> {
  const ids: string[] = [];
  let page: GitHistoryPage = await pageOf(scratch, root, { limit });
  for (;;) {
    expect(page.commits.length).toBeLessThanOrEqual(limit);
    ids.push(...page.commits.map(({ id }) => id));
    if (page.nextCursor === null) return ids;
    between();
    page = await pageOf(scratch, root, { limit, cursor: page.nextCursor });
  }
}

describe('the history of a repository', () => {
  it('holds merged commits once and ends at the first one, in pages of any size, while new ones come', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: '0' });
    for (const branch of ['one', 'two']) {
      scratch.git(root, 'checkout', '-q', '-b', branch, 'main');
      for (const step of [1, 2]) scratch.commit(root, { [branch]: `${step}` }, `${branch} ${step}`);
      scratch.git(root, 'checkout', '-q', 'main');
      scratch.commit(root, { a: branch }, `main beside ${branch}`);
      scratch.git(root, 'merge', '-q', '--no-ff', '-m', `merge ${branch}`, branch);
    }
    const expected = scratch.git(root, 'rev-list', 'main').trim().split('\n');
    expect(expected.length).toBe(9);
    for (const limit of [1, 3, 50]) {
      const meanwhile = () => scratch.commit(root, {}, 'a newer one');
      const tip = scratch.git(root, 'rev-list', 'main').trim().split('\n');
      expect(await allOf(scratch, root, limit, meanwhile)).toEqual(tip);
    }
  });

  it('tells authors, moments with their offsets, and parents', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    const first = scratch.git(root, 'rev-parse', 'HEAD').trim();
    scratch.git(
      root,
      'commit',
      '-q',
      '--allow-empty',
      '--author',
      'Ä Ö <ä@example.org>',
      '-m',
      'Zweite\n\nmore',
    );
    const { commits } = await pageOf(scratch, root);
    expect(commits).toMatchObject([
      {
        parents: [first],
        subject: 'Zweite',
        author: { name: 'Ä Ö', email: 'ä@example.org' },
        authoredAt: '2026-01-02T03:04:05+02:00',
        committer: { name: 'An Author', email: 'author@example.org' },
        committedAt: '2026-01-02T03:04:05+02:00',
      },
      { id: first, parents: [], subject: 'a commit' },
    ]);
  });

  it('of a path, and of a workspace inside a repository, holds what changed there', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { ':(top)x': 'a', 'sub/b': 'b' });
    const second = scratch.commit(root, { 'sub/b': 'changed' });
    const third = scratch.commit(root, { ':(top)x': 'changed' });
    const ids = async (more: Parameters<typeof pageOf>[2], at = root) =>
      (await pageOf(scratch, at, more)).commits.map(({ id }) => id).slice(0, -1);
    expect(await ids({ path: 'sub/b' })).toEqual([second]);
    expect(await ids({ path: ':(top)x' })).toEqual([third]);
    expect(await ids({}, `${root}/sub`)).toEqual([second]);
    expect(await ids({})).toEqual([third, second]);
  });

  it('is empty before the first commit, ends where a shallow clone ends, and needs no working tree', async () => {
    const scratch = new Scratch();
    expect(await pageOf(scratch, scratch.repository('empty'))).toEqual({ commits: [], nextCursor: null });
    const root = scratch.repository('r', { a: 'a' });
    const tip = scratch.commit(root, { a: 'b' });
    scratch.git(scratch.path, 'clone', '-q', '--depth', '1', `file://${root}`, 'shallow');
    expect(await allOf(scratch, scratch.at('shallow'), 1)).toEqual([tip]);
    scratch.git(scratch.path, 'clone', '-q', '--bare', root, 'bare');
    expect((await allOf(scratch, scratch.at('bare'), 50)).length).toBe(2);
  });

  it('cuts endless subjects, shows none of their control characters, and goes on behind them', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    scratch.gitWith(
      { input: `\x1b[31m${'ü'.repeat(1_500_000)}` },
      root,
      'commit',
      '-q',
      '--allow-empty',
      '-F',
      '-',
    );
    const { commits, nextCursor } = await pageOf(scratch, root);
    expect(commits.length).toBe(1);
    expect(commits[0]?.subject).toMatch(/^\[31mü+$/);
    expect(Buffer.byteLength(commits[0]?.subject ?? '')).toBeLessThanOrEqual(GIT_SUBJECT_BYTES_MAX);
    const rest = await pageOf(scratch, root, { cursor: nextCursor ?? '' });
    expect(rest).toMatchObject({ commits: [{ subject: 'a commit' }], nextCursor: null });
  });

  it('holds what git was made to store: bytes that are no text, moments that were never', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    const tree = scratch.git(root, 'rev-parse', 'HEAD^{tree}').trim();
    const head = `tree ${tree}\nauthor x\xff <e> 99999999999999999 +9900\ncommitter <> never\n\n\xfe`;
    const id = scratch
      .gitWith(
        { input: Buffer.from(head, 'latin1') },
        root,
        'hash-object',
        '--literally',
        '-t',
        'commit',
        '-w',
        '--stdin',
      )
      .trim();
    scratch.git(root, 'update-ref', 'HEAD', id);
    const { commits } = await pageOf(scratch, root);
    expect(commits).toMatchObject([{ id, subject: '\ufffd', author: { name: 'x\ufffd' } }]);
    for (const commit of commits) GitCommit.parse(commit);
  });

  it('refuses a cursor whose commit is gone, and a directory without a repository', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    expect(await failureOf(pageOf(scratch, root, { cursor: `${'1'.repeat(40)}:3` }))).toBe(
      'invalid-revision',
    );
    expect(await failureOf(pageOf(scratch, scratch.path))).toBe('not-git-repository');
  });
});
