import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HostDirectoryListing } from '@roost/protocol';
import { failureOf } from '../node-for-test.ts';
import { browseDirectories } from './browse-directories.ts';

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'roost-browse-')));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const browse = (directory = base, after: string | null = null): Promise<HostDirectoryListing> =>
  browseDirectories({ directory, after }, new AbortController().signal);
const names = ({ entries }: HostDirectoryListing) => entries.map(({ name }) => name);

describe('browsing', () => {
  it('lists directories by path, without files, and says where it is', async () => {
    for (const name of ['b', 'a', 'B']) mkdirSync(join(base, name));
    writeFileSync(join(base, 'file'), '');
    execFileSync('mkfifo', [join(base, 'pipe')]);
    expect(await browse()).toEqual({
      directory: base,
      parent: join(base, '..'),
      entries: ['B', 'a', 'b'].map((name) => ({ path: join(base, name), name, isLink: false })),
      nextAfter: null,
      incomplete: false,
    });
  });

  it('shows links to directories by where they lead, each directory once, and a link to nothing not at all', async () => {
    mkdirSync(join(base, 'real'));
    mkdirSync(join(base, 'other/inner'), { recursive: true });
    writeFileSync(join(base, 'file'), '');
    symlinkSync('real', join(base, 'a-link-to-real'));
    symlinkSync('other/inner', join(base, 'z'));
    symlinkSync('other/inner', join(base, 'y'));
    symlinkSync('file', join(base, 'to-file'));
    symlinkSync('nowhere', join(base, 'dangling'));
    const listing = await browse();
    expect(listing.entries).toEqual([
      { path: join(base, 'other'), name: 'other', isLink: false },
      { path: join(base, 'other/inner'), name: 'y', isLink: true },
      { path: join(base, 'real'), name: 'real', isLink: false },
    ]);
    expect(listing.incomplete).toBe(false);
    symlinkSync('loop', join(base, 'loop'));
    expect(await browse()).toMatchObject({ entries: listing.entries, incomplete: true });
  });

  it('comes in pages that together hold everything once, aliases at the edge of a page too', async () => {
    for (let number = 0; number < 600; number += 1) mkdirSync(join(base, String(number).padStart(4, '0')));
    for (const name of ['alias-1', 'alias-2']) symlinkSync('0255', join(base, name));
    const seen: string[] = [];
    let page = await browse();
    expect(page).toMatchObject({ incomplete: true, nextAfter: join(base, '0255') });
    for (;;) {
      seen.push(...names(page));
      expect(page.entries.length).toBeLessThanOrEqual(256);
      if (page.nextAfter === null) break;
      page = await browse(base, page.nextAfter);
    }
    expect(seen).toEqual(Array.from({ length: 600 }, (_, number) => String(number).padStart(4, '0')));
    expect(page.incomplete).toBe(false);
  });

  it('leaves out names that would act on a terminal or are no text, and says so', async () => {
    mkdirSync(join(base, 'good'));
    mkdirSync(join(base, 'bad\n'));
    expect(await browse()).toMatchObject({ entries: [{ name: 'good' }], incomplete: true });
    rmSync(join(base, 'bad\n'), { recursive: true });
    mkdirSync(Buffer.concat([Buffer.from(`${base}/`), Buffer.from([0xff])]));
    expect(await browse()).toMatchObject({ entries: [{ name: 'good' }], incomplete: true });
  });

  it('goes through links to the directory itself, and up to the top', async () => {
    mkdirSync(join(base, 'real/inner'), { recursive: true });
    symlinkSync('real', join(base, 'link'));
    expect(await browse(join(base, 'link'))).toMatchObject({ directory: join(base, 'real'), parent: base });
    const top = await browse('/');
    expect(top).toMatchObject({ directory: '/', parent: null });
    expect(names(top)).toContain(basename('/tmp'));
  });

  it.each([
    ['a file', () => writeFileSync(join(base, 'place'), '')],
    [
      'a pipe, without waiting for somebody to write into it',
      () => execFileSync('mkfifo', [join(base, 'place')]),
    ],
    ['nothing', () => undefined],
    ['a link to itself', () => symlinkSync('place', join(base, 'place'))],
  ])('refuses %s', async (_, make) => {
    make();
    expect(await failureOf(browse(join(base, 'place')))).toBe('host-directory-invalid');
  });

  it('stops when nobody waits any more', async () => {
    for (const name of ['a', 'b']) mkdirSync(join(base, name));
    const stop = new AbortController();
    stop.abort();
    expect((await browseDirectories({ directory: base, after: null }, stop.signal)).entries).toEqual([]);
  });
});
