import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WorktreeProfile } from '@roost/protocol';
import { beginIncarnation } from '../node-identity.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { workspaceAround } from '../workspaces/workspaces.ts';
import { findPlace } from './profile-place.ts';

let base: string;
let store: Store;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'roost-place-')));
  for (const name of ['repo/inside', 'trees', 'user/home', 'user/trees'])
    mkdirSync(join(base, name), { recursive: true });
  symlinkSync(join(base, 'repo', 'inside'), join(base, 'alias'));
  store = new Store(openDatabase(join(base, 'node.db')));
  beginIncarnation(store, '0');
  store.transact((transaction) =>
    workspaceAround(transaction, { directory: join(base, 'repo'), gitRoot: join(base, 'repo') }),
  );
});
afterEach(() => {
  store.close();
  rmSync(base, { recursive: true, force: true });
});

const place = (targetRoot: string, sourceWorkspace = 'repo') =>
  findPlace(store.sql, WorktreeProfile.parse({ sourceWorkspace, targetRoot }), join(base, 'user', 'home'));

it('takes a directory that is there, by its canonical path', async () => {
  symlinkSync(join(base, 'trees'), join(base, 'link'));
  expect(await place(join(base, 'link'))).toMatchObject({
    place: { allocationRoot: join(base, 'trees'), repositoryRoot: join(base, 'repo') },
  });
  expect(await place(join(base, 'user', 'trees'))).toHaveProperty('place');
});

it.each([
  ['the repository', 'repo'],
  ['what lies in it', 'repo/inside'],
  ['a link into it', 'alias'],
  ['what holds it', '.'],
  ['the home directory', 'user/home'],
  ['what holds that', 'user'],
  ['what is not there', 'absent'],
  ['the root of the file system', '/'],
])('refuses %s', async (_, name) => {
  expect(await place(name === '/' ? '/' : join(base, name))).toMatchObject({
    code: 'worktree-profile-unusable',
  });
});

it('refuses a source that is no workspace', async () => {
  expect(await place(join(base, 'trees'), 'absent')).toMatchObject({ code: 'unknown-workspace' });
});
