import { expect, test } from 'vitest';
import type { WorkspaceId, Worktree } from '@roost/protocol';
import { otherWorktrees, toldByOthers, worktreeName, type WorktreeListing } from './other-worktrees.ts';

const id = (name: string) => name as WorkspaceId;
const worktree = (path: string, more: Partial<Worktree> = {}): Worktree => ({
  path,
  head: null,
  branch: path.slice(path.lastIndexOf('/') + 1),
  isMain: false,
  isBare: false,
  locked: null,
  prunable: null,
  workspaceId: null,
  sessions: [],
  dirty: null,
  ...more,
});
const listing = (askedOf: string, ...worktrees: Worktree[]): WorktreeListing => ({
  askedOf: id(askedOf),
  mode: 'manual',
  worktrees,
});

test('each is told once, however many workspaces list it, and neither main checkouts nor leases are', () => {
  const main = worktree('/a', { isMain: true, workspaceId: id('a') });
  const leased = worktree('/t/one', { workspaceId: id('wt-one') });
  const all = [main, leased, worktree('/t/two'), worktree('/t/three', { workspaceId: id('three') })];
  const listings = [listing('three', ...all), listing('a', ...all)];
  const others = otherWorktrees(listings, [{ workspaceId: id('wt-one') }]);
  expect(others.map(({ path, sourceWorkspaceId }) => [path, sourceWorkspaceId])).toEqual([
    ['/t/three', 'a'],
    ['/t/two', 'three'],
  ]);
});

test('one is removed by way of another workspace than its own, where there is one', () => {
  const tree = worktree('/t/one', { workspaceId: id('one') });
  const main = worktree('/a', { isMain: true, workspaceId: id('a') });
  const sourceOf = (...all: Worktree[]) => otherWorktrees([listing('one', ...all)], [])[0]?.sourceWorkspaceId;
  expect(sourceOf(main, tree)).toBe('a');
  expect(sourceOf({ ...main, workspaceId: null }, tree)).toBe('one');
});

test('of workspaces of one repository, only the first needs to be asked', () => {
  const main = worktree('/a', { isMain: true, workspaceId: id('a') });
  const tree = worktree('/t/one', { workspaceId: id('one') });
  const elsewhere = worktree('/b', { isMain: true, workspaceId: id('b') });
  const listings = [listing('a', main, tree), listing('b', elsewhere), listing('one', main, tree)];
  expect([...toldByOthers(listings)]).toEqual(['one']);
});

test('one without a branch is called by its directory', () => {
  expect(worktreeName(worktree('/t/fix', { branch: null }))).toBe('fix');
  expect(worktreeName(worktree('/t/fix', { branch: 'bug/7' }))).toBe('bug/7');
});
