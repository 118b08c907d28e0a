import { describe, expect, it } from 'vitest';
import { RepositoryPath } from './repository-path.ts';
import { FileText } from './workspace-file.ts';

describe('the text of a file', () => {
  it.each([
    ['256 KiB', 'é'.repeat(131_072), true],
    ['more than 256 KiB', 'é'.repeat(131_073), false],
    ['nothing', '', true],
    ['a mark and line breaks of all kinds', '\ufeffa\r\nb\rc\u2028', true],
    ['NUL', 'a\0', false],
    ['half of a pair', 'a\ud800', false],
  ])('of %s is taken or not', (_what, text, isTaken) => {
    expect(FileText.safeParse(text).success).toBe(isTaken);
  });
});

describe('a path in a workspace', () => {
  it.each(['a', 'a/b.c', ' ', 'ü/✓', '...', 'a\\b', 'a\nb', '.git/config', 'é'.repeat(512)])(
    'can be %j',
    (path) => {
      expect(RepositoryPath.safeParse(path).success).toBe(true);
    },
  );

  it.each(['', '/', '/a', 'a/', 'a//b', '.', '..', 'a/..', './a', 'a/./b', 'a\0', '\ud800', 'é'.repeat(513)])(
    'is not %j',
    (path) => {
      expect(RepositoryPath.safeParse(path).success).toBe(false);
    },
  );
});
