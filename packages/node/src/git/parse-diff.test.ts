import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GIT_DIFF_FILES_MAX, GIT_PATCH_BYTES_MAX, GitDiffFile } from '@roost/protocol';
import { shownPatch } from './diff.ts';
import { parseDiff } from './parse-diff.ts';

const bytes = (...records: (string | Buffer)[]) =>
  Buffer.concat(records.flatMap((record) => [Buffer.from(record), Buffer.of(0)]));
const raw = (status: string, modes = '100644 100644') => `:${modes} 1234567 0000000 ${status}`;

describe('what git tells of a difference', () => {
  it('keeps lists and text apart, and renames with where they come from', () => {
    const lists = bytes(raw('M'), 'a\tb', raw('R093'), 'old', 'new', raw('D', '100755 000000'), 'gone');
    const counts = bytes('1\t2\ta\tb', '3\t0\t', 'old', 'new', '-\t-\tgone', '');
    const text = Buffer.from('diff --git a/x b/x\n\0');
    const parsed = parseDiff(Buffer.concat([lists, counts, text]), false);
    expect(parsed.files).toMatchObject([
      { path: 'a\tb', previousPath: null, status: 'modified', additions: 1, deletions: 2 },
      { path: 'new', previousPath: 'old', status: 'renamed', additions: 3, binary: false },
      { path: 'gone', status: 'deleted', previousMode: '100755', mode: null, binary: true, additions: null },
    ]);
    expect(parsed).toMatchObject({ patch: text, filesCut: false, unnameable: 0 });
  });

  it('counts names that are no text, and says when the list ended early', () => {
    const strange = Buffer.from([0x61, 0xff]);
    const parsed = parseDiff(
      bytes(raw('M'), strange, raw('R100'), strange, 'new', raw('A'), 'whole', raw('A')),
      true,
    );
    expect(parsed).toMatchObject({
      unnameable: 2,
      filesCut: true,
      files: [{ path: 'whole', additions: null }],
    });
    expect(parsed.patch.length).toBe(0);
  });

  it('is cut at its bounds of files and of bytes', () => {
    const many = Array.from({ length: GIT_DIFF_FILES_MAX + 1 }, (_, at) => [raw('A'), `f${at}`]).flat();
    expect(parseDiff(bytes(...many, ''), false)).toMatchObject({
      filesCut: true,
      files: { length: GIT_DIFF_FILES_MAX },
    });
    const long = Array.from({ length: 600 }, (_, at) => [raw('A'), `${'n'.repeat(1_000)}${at}`]).flat();
    const { files, filesCut } = parseDiff(bytes(...long, ''), false);
    expect([files.length < 600, files.length > 500, filesCut]).toEqual([true, true, true]);
  });

  it('is never more than the schema allows, whatever the bytes are', () => {
    const letters = fc.constantFrom(...':100644 MRD\0\n\t-/a'.split(''));
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((one) => Buffer.from(one)),
      fc.array(letters, { maxLength: 200 }).map((one) => Buffer.from(`:${one.join('')}`)),
    );
    fc.assert(
      fc.property(noise, fc.boolean(), (some, isCut) => {
        for (const file of parseDiff(some, isCut).files) GitDiffFile.parse(file);
        expect(Buffer.byteLength(shownPatch(some, isCut).patch)).toBeLessThanOrEqual(GIT_PATCH_BYTES_MAX);
      }),
      { numRuns: 300 },
    );
  });
});
