import { describe, expect, it } from 'vitest';
import { FailureError } from '@roost/protocol';
import { requireSelectable } from './select-worktree.ts';
import type { WorktreeEntry } from './worktree-list.ts';

const linked: WorktreeEntry = {
  path: '/linked',
  head: 'a'.repeat(40),
  branch: 'b',
  isMain: false,
  isBare: false,
  locked: null,
  prunable: null,
};
const main = { ...linked, path: '/main', isMain: true };
const bare = { ...linked, path: '/bare', isBare: true };
const gone = { ...linked, path: '/gone', prunable: 'its directory is not there' };
const locked = { ...linked, path: '/locked', locked: '' };
const all = [main, linked, bare, gone, locked];

describe('a worktree that a launch selects', () => {
  it.each([
    ['/main', '/linked'],
    ['/main/sub', '/locked'],
    ['/locked', '/linked'],
  ])('may be a linked one that is there: from %s, %s', (source, chosen) => {
    expect(() => requireSelectable(all, source, chosen)).not.toThrow();
  });

  it.each([
    ['/main', '/main', 'main-worktree'],
    ['/main', '/bare', 'bare-repository'],
    ['/main', '/gone', 'directory-gone'],
    ['/main', '/elsewhere', 'not-listed'],
    ['/main', '/linked/sub', 'not-listed'],
    ['/elsewhere', '/linked', 'not-listed'],
    ['/bare', '/linked', 'not-listed'],
  ])('is refused otherwise: from %s, %s is %s', (source, chosen, why) => {
    let details: unknown;
    try {
      requireSelectable(all, source, chosen);
    } catch (error) {
      details = error instanceof FailureError ? error.failure : error;
    }
    expect(details).toMatchObject({ code: 'worktree-protected', details: { path: chosen, why } });
  });
});
