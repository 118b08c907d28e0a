import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLineList, parseNulList, WORKTREES_MAX } from './worktree-list.ts';

const head = 'a'.repeat(40);
const nul = (...records: string[][]) =>
  Buffer.from(records.map((fields) => [...fields, ''].map((field) => `${field}\0`).join('')).join(''));
const entry = { head, branch: null, isMain: false, isBare: false, locked: null, prunable: null };

describe('the list in its NUL form', () => {
  it('keeps paths with spaces and line breaks, reasons, and a branch without refs/heads', () => {
    const bytes = nul(
      ['worktree /r/main', `HEAD ${head}`, 'branch refs/heads/main'],
      [
        'worktree /r/with a space\nand line',
        `HEAD ${head}`,
        'branch refs/heads/feature/one',
        'locked on a disk',
      ],
      [
        'worktree /r/gone',
        `HEAD ${head}`,
        'detached',
        'prunable gitdir file points to non-existent location',
      ],
    );
    expect(parseNulList(bytes)).toEqual([
      { ...entry, path: '/r/main', branch: 'main', isMain: true },
      { ...entry, path: '/r/with a space\nand line', branch: 'feature/one', locked: 'on a disk' },
      { ...entry, path: '/r/gone', prunable: 'gitdir file points to non-existent location' },
    ]);
  });

  it('tells a bare repository, a lock without a reason, and no head before the first commit', () => {
    const bytes = nul(['worktree /r', 'bare'], ['worktree /w', `HEAD ${'0'.repeat(40)}`, 'locked']);
    expect(parseNulList(bytes)).toEqual([
      { ...entry, path: '/r', head: null, isMain: true, isBare: true },
      { ...entry, path: '/w', head: null, locked: '' },
    ]);
  });

  it('drops a record without a path, which does not make the next one the main one', () => {
    const [only] = parseNulList(nul([`HEAD ${head}`], ['worktree /w', `HEAD ${head}`])) ?? [];
    expect(only).toEqual({ ...entry, path: '/w' });
  });

  it.each([
    ['cut in the middle', Buffer.from('worktree /r')],
    ['with a relative path', nul(['worktree r'])],
    ['with an empty path', nul(['worktree '])],
    ['with a path that is too long', nul([`worktree /${'x'.repeat(4_096)}`])],
    ['with a path that is no UTF-8', Buffer.from('worktree /\xff\0\0', 'latin1')],
    [
      'with too many entries',
      nul(...Array.from({ length: WORKTREES_MAX + 1 }, (_, i) => [`worktree /${i}`])),
    ],
  ])('is not understood %s', (_, bytes) => {
    expect(parseNulList(bytes)).toBeNull();
  });

  it('is empty when nothing was told', () => expect(parseNulList(Buffer.alloc(0))).toEqual([]));
});

describe('the list in its form of lines', () => {
  it('undoes C-quoting, octal bytes of UTF-8 too, and knows only the first as main', () => {
    const text = [
      'worktree /r/main',
      `HEAD ${head}`,
      'branch refs/heads/main',
      '',
      String.raw`worktree "/r/a\nb\t\"c\"\\ \303\244"`,
      `HEAD ${head}`,
      'detached',
      String.raw`locked "two\nlines"`,
      '',
    ].join('\n');
    expect(parseLineList(Buffer.from(text))).toEqual([
      { ...entry, path: '/r/main', branch: 'main', isMain: true },
      { ...entry, path: '/r/a\nb\t"c"\\ ä', locked: 'two\nlines' },
    ]);
  });

  it.each([String.raw`"/r\q"`, '"/r', String.raw`"/r\"`])('is not understood with the path %s', (path) => {
    expect(parseLineList(Buffer.from(`worktree ${path}\n`))).toBeNull();
  });
});

it('whatever bytes come, both parsers answer', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      for (const parse of [parseNulList, parseLineList]) {
        for (const { path } of parse(Buffer.from(bytes)) ?? []) expect(path).toMatch(/^\//);
      }
    }),
  );
});
