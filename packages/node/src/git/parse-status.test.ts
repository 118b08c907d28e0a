import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GIT_STATUS_ENTRIES_MAX, GitStatusEntry } from '@roost/protocol';
import { parseStatus } from './parse-status.ts';

const TOP = Buffer.alloc(0);
const ID = '0123456789012345678901234567890123456789';
const bytes = (...records: (string | Buffer)[]) =>
  Buffer.concat(records.flatMap((record) => [Buffer.from(record), Buffer.of(0)]));
const changed = (states: string, path: string) => `1 ${states} N... 100644 100644 100644 ${ID} ${ID} ${path}`;
const moved = (states: string, score: string, path: string) =>
  `2 ${states} N... 100644 100644 100644 ${ID} ${ID} ${score} ${path}`;

describe('what git tells of a status', () => {
  it('keeps the current and the previous path of renames and copies, and line breaks in names', () => {
    const parsed = parseStatus(
      bytes(
        moved('R.', 'R100', 'src/current name.rs'),
        'src/previous name.rs',
        moved('.C', 'C75', 'copy'),
        'from',
        '? a\nb',
      ),
      TOP,
      false,
    );
    expect(parsed.entries).toMatchObject([
      {
        path: 'src/current name.rs',
        previousPath: 'src/previous name.rs',
        index: 'renamed',
        worktree: 'unmodified',
      },
      { path: 'copy', previousPath: 'from', index: 'unmodified', worktree: 'copied' },
      { path: 'a\nb', previousPath: null, index: 'untracked', worktree: 'untracked' },
    ]);
    expect(parsed).toMatchObject({ entriesCut: false, unnameable: 0 });
  });

  it('makes no name up: what is no text or too long is counted, a rename without its origin is none', () => {
    const strange = Buffer.from([0x3f, 0x20, 0x61, 0xff]);
    const parsed = parseStatus(
      bytes(
        '? valid.rs',
        strange,
        `? ${'n'.repeat(2_000)}`,
        'x y z',
        '1 MM',
        changed('Q.', 'a'),
        moved('R.', 'R100', 'b'),
      ),
      TOP,
      false,
    );
    expect(parsed.entries.map(({ path }) => path)).toEqual(['valid.rs']);
    expect(parsed).toMatchObject({ entriesCut: true, unnameable: 5 });
  });

  it('keeps a backslash and a byte order mark as the characters of a name that they are', () => {
    const parsed = parseStatus(bytes('? a\\b', '? \ufeffc'), TOP, false);
    expect(parsed.entries.map(({ path }) => path)).toEqual(['a\\b', '\ufeffc']);
  });

  it('is cut at its bound and says so; at the bound exactly it is whole', () => {
    const many = (count: number) =>
      bytes(...Array.from({ length: count }, (_, at) => changed('.M', `f${at}`)));
    const full = parseStatus(many(GIT_STATUS_ENTRIES_MAX), TOP, false);
    expect([full.entries.length, full.entriesCut]).toEqual([GIT_STATUS_ENTRIES_MAX, false]);
    const over = parseStatus(many(GIT_STATUS_ENTRIES_MAX + 1), TOP, false);
    expect([over.entries.length, over.entriesCut]).toEqual([GIT_STATUS_ENTRIES_MAX, true]);
    expect(over.entries[0]).toMatchObject({ index: 'unmodified', worktree: 'modified' });
  });

  it('tells every kind of conflict, and what is known of a submodule', () => {
    const unmerged = (states: string) =>
      `u ${states} N... 100644 100644 100644 100644 ${ID} ${ID} ${ID} ${states}`;
    const states = ['DD', 'AU', 'UD', 'UA', 'DU', 'AA', 'UU'];
    const parsed = parseStatus(
      bytes(...states.map(unmerged), `1 .M SC.. 160000 160000 160000 ${ID} ${ID} module`),
      TOP,
      false,
    );
    expect(parsed.entries.slice(0, 7).map(({ conflict }) => conflict)).toEqual([
      'both-deleted',
      'added-by-us',
      'deleted-by-them',
      'added-by-them',
      'deleted-by-us',
      'both-added',
      'both-modified',
    ]);
    expect(parsed.entries[7]).toMatchObject({ submodule: { commitChanged: true }, conflict: null });
  });

  it('tells paths from the workspace on, and knows a workspace that is untracked itself', () => {
    const prefix = Buffer.from('packages/a/');
    const parsed = parseStatus(
      bytes(moved('R.', 'R100', 'packages/a/new'), 'packages/b/old', '? packages/a/', '? packages/a/dir/'),
      prefix,
      false,
    );
    expect(parsed).toMatchObject({
      isUntracked: true,
      unnameable: 0,
      entries: [
        { path: 'new', previousPath: null, isDirectory: false },
        { path: 'dir', isDirectory: true },
      ],
    });
  });

  it('reads branch, commit and upstream, or that there is none', () => {
    const head = ['# branch.oid', '# branch.head', '# branch.upstream', '# branch.ab'];
    const values = [ID, 'feature/x', 'origin/feature/x', '+2 -31'];
    expect(parseStatus(bytes(...head.map((name, at) => `${name} ${values[at]}`)), TOP, false)).toMatchObject({
      branch: 'feature/x',
      commit: ID,
      upstream: { branch: 'origin/feature/x', ahead: 2, behind: 31 },
    });
    expect(
      parseStatus(bytes('# branch.oid (initial)', '# branch.head (detached)'), TOP, false),
    ).toMatchObject({
      branch: null,
      commit: null,
      upstream: null,
    });
  });

  it('is never more than the schema allows, whatever the bytes are', () => {
    const letters = fc.constantFrom(...'12u?!# RMC.\0\n\t/a'.split(''));
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((one) => Buffer.from(one)),
      fc.array(letters, { maxLength: 200 }).map((one) => Buffer.from(one.join(''))),
    );
    fc.assert(
      fc.property(noise, fc.boolean(), (some, isCut) => {
        for (const entry of parseStatus(some, TOP, isCut).entries) GitStatusEntry.parse(entry);
      }),
      { numRuns: 300 },
    );
  });
});
