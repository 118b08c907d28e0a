import { expect, test } from 'vitest';
import { GitStatusEntry, type GitRepositoryStatus } from '@roost/protocol';
import { paintPatch } from './diff-text.ts';
import { statusLines } from './git-status-text.ts';
import { paletteFor } from './paint.ts';

const COLOURED = paletteFor({ isTTY: true }, { TERM: 'xterm' });
const PLAIN = paletteFor({}, {});

test('a difference is coloured line by line, and nothing in it acts on the terminal', () => {
  const patch = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n same\ttab\n-old\n+new \x1b[2J\r\n';
  expect(paintPatch(patch, COLOURED)).toBe(
    [
      '\x1b[1mdiff --git a/x b/x\x1b[22m',
      '\x1b[1m--- a/x\x1b[22m',
      '\x1b[1m+++ b/x\x1b[22m',
      '\x1b[2m@@ -1 +1,2 @@\x1b[22m',
      ' same\ttab',
      '\x1b[31m-old\x1b[39m',
      '\x1b[32m+new \ufffd[2J\ufffd\x1b[39m',
      '',
    ].join('\n'),
  );
});

test('a status tells where it is, what is unfinished, and each file as git does in short', () => {
  const entry = {
    previousPath: null,
    index: 'unmodified',
    worktree: 'unmodified',
    conflict: null,
    submodule: null,
    isDirectory: false,
  };
  const status: GitRepositoryStatus = {
    kind: 'repository',
    branch: 'a\x1bb',
    commit: '0123456789'.repeat(4),
    upstream: { branch: 'origin/a', ahead: 2, behind: 0 },
    operation: 'merge',
    hasWorkingTree: true,
    entries: [
      { ...entry, path: 'new', previousPath: 'old', index: 'renamed', worktree: 'modified' },
      { ...entry, path: 'dir', index: 'untracked', worktree: 'untracked', isDirectory: true },
      { ...entry, path: 'c\n', index: 'conflicted', worktree: 'conflicted', conflict: 'both-added' },
    ].map((one) => GitStatusEntry.parse(one)),
    entriesCut: false,
    unnameable: 0,
  };
  expect(statusLines(status, PLAIN)).toEqual([
    'on a\ufffdb at 0123456789, 2 ahead and 0 behind origin/a, in the middle of: merge',
    'RM new (from old)',
    '?? dir/',
    'UU c\ufffd (both-added)',
  ]);
});
