import { describe, expect, it } from 'vitest';
import { isInGitDirectory } from './git-directory.ts';

describe("git's own files", () => {
  it.each([
    '.git',
    '.git/hooks/post-commit',
    'sub/module/.git/config',
    '.GIT/config',
    '.gIt',
    'a/.g\u200cit/config',
    '\ufeff.git/config',
    '.git./config',
    '.git /config',
    'GIT~1/hooks/x',
  ])('are found in %j', (path) => {
    expect(isInGitDirectory(path)).toBe(true);
  });

  it.each([
    '.gitignore',
    '.github/workflows/x.yml',
    'git',
    'a.git/config',
    '.gitmodules',
    'src/.gitkeep',
    '...',
  ])('are not found in %j', (path) => {
    expect(isInGitDirectory(path)).toBe(false);
  });
});
