import { describe, expect, it } from 'vitest';
import { meaningsOf, type Listed } from './named-worktree.ts';

const tree = (path: string, branch: string | null, isMain = false) => ({ path, branch, isMain });
const shop: Listed = {
  workspaceId: 'shop',
  worktrees: [tree('/shop', 'main', true), tree('/trees/fix', 'feat/fix'), tree('/trees/moved', 'old')],
};
const library: Listed = {
  workspaceId: 'lib',
  worktrees: [tree('/lib', 'main', true), tree('/lib.fix', 'feat/fix')],
};
const workspaces = [
  { id: 'shop', root: '/shop' },
  { id: 'fix', root: '/trees/fix' },
  { id: 'old', root: '/trees/fix' },
];

function meant(named: string, { listed = [shop], isThere = false, at = `/here/${named}` } = {}): string[] {
  return [...meaningsOf(named, { directory: at, isThere }, workspaces, listed).keys()];
}

describe('a word that names a worktree', () => {
  it.each([
    ['its branch', 'feat/fix', {}, ['/trees/fix']],
    ['its workspace', 'fix', {}, ['/trees/fix']],
    ['its directory, there or gone', 'fix', { at: '/trees/fix' }, ['/trees/fix']],
    ['nothing that is known', 'feat/other', {}, []],
    ['a directory of which nothing is known', 'other', { isThere: true }, ['/here/other']],
    ['a main checkout, which is told to be one', 'main', {}, ['/shop']],
  ])('is %s', (_, named, options, expected) => {
    expect(meant(named, options)).toEqual(expected);
  });

  it.each([
    ['a branch of two repositories', 'feat/fix', { listed: [shop, library] }, ['/trees/fix', '/lib.fix']],
    ['a branch, and the workspace of another worktree', 'old', {}, ['/trees/fix', '/trees/moved']],
    ['a directory here, and a branch', 'feat/fix', { isThere: true }, ['/here/feat/fix', '/trees/fix']],
    ['the branch of two main checkouts', 'main', { listed: [shop, library] }, ['/shop', '/lib']],
  ])('is told as more than one when it is %s', (_, named, options, expected) => {
    expect(meant(named, options)).toEqual(expected);
  });
});
