import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventBody, Workspace, WorkspaceId } from '@roost/protocol';
import { Journal } from '../events/journal.ts';
import { Scratch } from '../git/scratch-for-test.ts';
import { waitFor } from '../node-for-test.ts';
import { beginIncarnation } from '../node-identity.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { locate } from './locate.ts';
import { lookAtGit } from './git-questions.ts';
import { OutsideChanges } from './outside-changes.ts';
import { findWorkspace, workspaceAround } from './workspaces.ts';

let directory: string;
let scratch: Scratch;
let store: Store;
let journal: Journal;
let outside: OutsideChanges;
/** Roots of the looks that have begun. */
let looks: string[];
/** Looks that ask git now. */
let asking: number;
/** A look begins to ask git once this is over. */
let gate: Promise<void>;
let told: Extract<EventBody, { kind: 'workspace-changed' }>['workspace'][];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roost-outside-'));
  scratch = new Scratch();
  store = new Store(openDatabase(join(directory, 'node.db')));
  beginIncarnation(store, '0');
  journal = new Journal(store);
  looks = [];
  asking = 0;
  gate = Promise.resolve();
  told = [];
  store.onEvent(({ body }) => {
    if (body.kind === 'workspace-changed') told.push(body.workspace);
  });
  outside = new OutsideChanges({
    store,
    journal,
    look: async (root) => {
      looks.push(root);
      await gate;
      asking += 1;
      try {
        return await lookAtGit(scratch.source, root);
      } finally {
        asking -= 1;
      }
    },
    log: pino({ level: 'silent' }),
  });
});
afterEach(async () => {
  outside.close();
  await waitFor(() => outside.isAtRest, 'the last look to end');
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

async function register(root: string): Promise<Workspace> {
  const location = await locate(root);
  if (location === null) throw new Error('no directory');
  return store.transact((transaction) => workspaceAround(transaction, location));
}

const follow = () => journal.onAppended(() => undefined);
const gitOf = (id: WorkspaceId) => findWorkspace(store.sql, id)?.git ?? null;
const toldLast = (what: string, condition: (last: Workspace) => boolean) =>
  waitFor(() => {
    const last = told.at(-1);
    return last !== undefined && condition(last);
  }, what);

describe('what happens in a workspace while somebody listens', () => {
  it('is told: a commit, a file at the top, a file deep inside, another branch', async () => {
    const root = scratch.repository('repo', { 'a.txt': 'one\n', 'deep/er/b.txt': 'one\n' });
    const { id } = await register(root);
    follow();
    const first = scratch.git(root, 'rev-parse', 'HEAD').trim();
    await toldLast('the first look', ({ git }) => git?.head === first);
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({
      id,
      git: { branch: 'main', changed: 0, untracked: 0, truncated: false },
    });

    const second = scratch.commit(root, { 'a.txt': 'two\n' });
    await toldLast('the commit', ({ git }) => git?.head === second);

    scratch.write(root, { 'new.txt': 'x\n' });
    await toldLast('the new file', ({ git }) => git?.untracked === 1);

    scratch.write(root, { 'deep/er/b.txt': 'two\n' });
    await toldLast('the change deep inside', ({ git }) => git?.changed === 1);

    scratch.git(root, 'switch', '-q', '-c', 'topic');
    await toldLast('the branch', ({ git }) => git?.branch === 'topic');
    expect(gitOf(id)).toEqual(told.at(-1)?.git);
    // Each of them was news of its own.
    expect(told.length).toBeLessThanOrEqual(6);
  }, 60_000);

  it('is told of each worktree by itself', async () => {
    const root = scratch.repository('repo', { 'a.txt': 'one\n' });
    const linked = scratch.at('linked');
    scratch.git(root, 'worktree', 'add', '-q', '-b', 'side', linked);
    const main = await register(root);
    const side = await register(linked);
    follow();
    await waitFor(() => gitOf(main.id) !== null && gitOf(side.id) !== null, 'both looks');
    const before = told.length;
    const commit = scratch.commit(linked, { 'b.txt': 'x\n' });
    await toldLast('the commit', ({ git }) => git?.head === commit);
    expect(told.slice(before).map(({ id }) => id)).toEqual([side.id]);
    expect(gitOf(main.id)?.branch).toBe('main');
  }, 30_000);

  it('is told when the repository goes, and not when git only cannot tell', async () => {
    const root = scratch.repository('repo', { 'a.txt': 'one\n' });
    const { id } = await register(root);
    follow();
    await waitFor(() => gitOf(id) !== null, 'the first look');
    const before = looks.length;
    scratch.write(root, { '.git/index': 'damaged' });
    await waitFor(() => looks.length > before, 'a look at the damage');
    // No look sees half a repository.
    let open: () => void = () => undefined;
    gate = new Promise((resolve) => (open = resolve));
    await waitFor(() => asking === 0, 'the look at the damage to end');
    renameSync(join(root, '.git'), scratch.at('aside'));
    open();
    await waitFor(() => gitOf(id) === null, 'the repository to be gone', 30_000);
    expect(told.map(({ git }) => git === null)).toEqual([false, true]);
  }, 60_000);
});

describe('when nobody is interested', () => {
  it('nothing is looked at, waited for or watched', async () => {
    const root = scratch.repository('repo', { 'a.txt': 'one\n' });
    const { id } = await register(root);
    await waitFor(() => outside.isAtRest, 'rest');
    expect(looks).toEqual([]);

    const unfollow = follow();
    await waitFor(() => gitOf(id) !== null, 'the first look');
    expect(outside.isAtRest).toBe(false);

    unfollow();
    await waitFor(() => outside.isAtRest, 'rest again');
    const before = looks.length;
    scratch.commit(root, { 'a.txt': 'two\n' });
    follow();
    await waitFor(() => looks.length > before, 'the next listener');
  }, 30_000);

  it('a plain directory is never looked at, and a forgotten workspace no more', async () => {
    const root = scratch.repository('repo', { 'a.txt': 'one\n' });
    follow();
    const { id } = await register(root);
    await waitFor(() => gitOf(id) !== null, 'the first look');
    store.transact(({ sql, append }) => {
      sql.run('DELETE FROM workspaces WHERE id = ?', id);
      append({ kind: 'workspace-unregistered', workspaceId: id });
    });
    scratch.write(scratch.path, { 'plain/file': '' });
    await register(scratch.at('plain'));
    await waitFor(() => outside.isAtRest, 'rest');
    expect(new Set(looks)).toEqual(new Set([root]));
  }, 30_000);
});
