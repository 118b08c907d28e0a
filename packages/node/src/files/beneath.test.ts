/** The same contract for both walks; what only the one by descriptor can promise is proven at the end. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileRevision } from '@roost/protocol';
import { KeyedLocks } from '../control/keyed-locks.ts';
import { openByDescriptor } from './beneath-by-descriptor.ts';
import { openByPath } from './beneath-by-path.ts';
import { openBeneath } from './beneath.ts';
import { CommitGate } from './commit-gate.ts';
import { revisionOf } from './content.ts';
import { createDirectory, createFile } from './create-entry.ts';
import type { OpenParent } from './parent-directory.ts';
import { faultOf } from './path-fault.ts';
import { readFile } from './read-file.ts';
import { PREPARED_PREFIX, writeFile } from './write-file.ts';

const isLinux = process.platform === 'linux';
const isRoot = process.getuid?.() === 0;
const log = pino({ level: 'silent' });
const walks: [string, OpenParent][] = [
  ['by path', openByPath],
  ...(isLinux ? [['by descriptor', openByDescriptor] as [string, OpenParent]] : []),
];

let base: string;
let root: string;
let outside: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'roost-beneath-')));
  root = join(base, 'root');
  outside = join(base, 'outside');
  mkdirSync(join(root, 'src', 'deep'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(root, 'src', 'deep', 'file'), 'old\n');
  writeFileSync(join(outside, 'file'), 'canary\n');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const kindOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => faultOf(error).kind,
  );

function operations(openParent: OpenParent) {
  const locks = new KeyedLocks();
  const creation = (path: string) => ({ root, path, gate: new CommitGate(), log, openParent });
  return {
    read: (path: string) => readFile(root, path, openParent),
    write: (path: string, text: string, expected = revisionOf(Buffer.from('old\n'))) =>
      writeFile({ ...creation(path), text, expected: FileRevision.parse(expected), locks }),
    createFile: (path: string) => createFile(creation(path)),
    createDirectory: (path: string) => createDirectory(creation(path)),
  };
}

describe.each(walks)('files of a workspace, walked %s', (_name, openParent) => {
  const { read, write, createFile: newFile, createDirectory: newDirectory } = operations(openParent);
  const everyWay = (path: string) =>
    Promise.all([read(path), write(path, 'x'), newFile(path), newDirectory(path)].map(kindOf));

  it('are read with length and revision, byte for byte', async () => {
    writeFileSync(join(root, 'marked'), '\ufeffhello\r\n');
    expect(await read('marked')).toEqual({
      kind: 'text',
      text: '\ufeffhello\r\n',
      byteLength: 10,
      revision: revisionOf(readFileSync(join(root, 'marked'))),
    });
    expect(await read('src/deep/file')).toMatchObject({ kind: 'text', text: 'old\n', byteLength: 4 });
  });

  it.each([
    ['nothing', Buffer.alloc(0), { kind: 'text', byteLength: 0 }],
    ['as much as is allowed', Buffer.alloc(262_144, 'a'), { kind: 'text', byteLength: 262_144 }],
    ['one byte more', Buffer.alloc(262_145, 'a'), { kind: 'too-large', limitBytes: 262_144 }],
    ['NUL', Buffer.from('a\0b'), { kind: 'binary', byteLength: 3 }],
    ['what is not UTF-8', Buffer.from([0xff, 0xfe, 0x41, 0x0a]), { kind: 'binary', byteLength: 4 }],
    ['half of a character at the end', Buffer.from('é').subarray(0, 1), { kind: 'binary', byteLength: 1 }],
    ['a surrogate', Buffer.from([0xed, 0xa0, 0x80]), { kind: 'binary', byteLength: 3 }],
  ])('with %s are told as what they are', async (_what, bytes, told) => {
    writeFileSync(join(root, 'f'), bytes);
    const content = await read('f');
    expect(content).toMatchObject(told);
    expect('revision' in content).toBe(told.kind === 'text');
  });

  it('are replaced in one step, with the mode that they had, and nothing else is left', async () => {
    chmodSync(join(root, 'src/deep/file'), 0o751);
    const before = statSync(join(root, 'src/deep/file'));
    const written = await write('src/deep/file', 'new ✓\n');
    expect(written).toEqual({ byteLength: 8, revision: revisionOf(Buffer.from('new ✓\n')) });
    expect(readFileSync(join(root, 'src/deep/file'), 'utf8')).toBe('new ✓\n');
    const after = statSync(join(root, 'src/deep/file'));
    expect([after.mode, after.uid, after.gid]).toEqual([before.mode, before.uid, before.gid]);
    expect(after.ino).not.toBe(before.ino);
    expect(readdirSync(join(root, 'src/deep'))).toEqual(['file']);
  });

  it.runIf(isRoot)('keep their owner and group', async () => {
    const { chownSync } = await import('node:fs');
    chownSync(join(root, 'src/deep/file'), 1234, 2345);
    await write('src/deep/file', 'new\n');
    const { uid, gid, mode } = statSync(join(root, 'src/deep/file'));
    expect([uid, gid, mode & 0o777]).toEqual([1234, 2345, 0o644]);
  });

  it('lose the right to run as their owner when they are replaced, as by any write', async () => {
    chmodSync(join(root, 'src/deep/file'), 0o4755);
    await write('src/deep/file', 'new\n');
    expect(statSync(join(root, 'src/deep/file')).mode & 0o7777).toBe(0o755);
  });

  it.skipIf(isRoot)('that are read-only are not replaced', async () => {
    chmodSync(join(root, 'src/deep/file'), 0o444);
    expect(await kindOf(write('src/deep/file', 'new\n'))).toBe('failed');
    expect(readFileSync(join(root, 'src/deep/file'), 'utf8')).toBe('old\n');
  });

  it('of another revision are left as they are, and the current revision is told', async () => {
    const stale = revisionOf(Buffer.from('older\n'));
    await expect(write('src/deep/file', 'new\n', stale)).rejects.toMatchObject({
      kind: 'conflict',
      revision: revisionOf(Buffer.from('old\n')),
    });
    expect(readFileSync(join(root, 'src/deep/file'), 'utf8')).toBe('old\n');
  });

  it('with the text that they are to get are not touched', async () => {
    utimesSync(join(root, 'src/deep/file'), 1, 1);
    const { ino } = statSync(join(root, 'src/deep/file'));
    await write('src/deep/file', 'old\n');
    expect(statSync(join(root, 'src/deep/file'))).toMatchObject({ ino, mtimeMs: 1000 });
  });

  it('that are not text are not replaced', async () => {
    writeFileSync(join(root, 'binary'), 'a\0');
    writeFileSync(join(root, 'large'), Buffer.alloc(262_145, 'a'));
    for (const name of ['binary', 'large']) {
      const before = readFileSync(join(root, name));
      expect(await kindOf(write(name, 'x', revisionOf(before)))).toBe('not-text');
      expect(readFileSync(join(root, name)).equals(before)).toBe(true);
    }
  });

  it('of two writers with one old revision take one text, and refuse the other', async () => {
    for (let round = 0; round < 20; round += 1) {
      writeFileSync(join(root, 'src/deep/file'), 'old\n');
      const texts = ['one\n', 'two\n', 'three\n'];
      const ends = await Promise.all(texts.map((text) => kindOf(write('src/deep/file', text))));
      expect(ends.filter((end) => end === 'done')).toHaveLength(1);
      expect(ends.filter((end) => end === 'conflict')).toHaveLength(2);
      const winner = texts[ends.indexOf('done')];
      expect(readFileSync(join(root, 'src/deep/file'), 'utf8')).toBe(winner);
    }
    expect(readdirSync(join(root, 'src/deep'))).toEqual(['file']);
  });

  it('and directories are made once, empty, as open as the directory around them', async () => {
    chmodSync(join(root, 'src'), 0o755);
    await newFile('src/new');
    await newDirectory('src/dir');
    chmodSync(join(root, 'src/deep'), 0o777);
    await newFile('src/deep/new');
    chmodSync(join(root, 'src/dir'), 0o700);
    await newFile('src/dir/new');
    const modes = ['src/new', 'src/dir', 'src/deep/new', 'src/dir/new'].map((path) =>
      (statSync(join(root, path)).mode & 0o777).toString(8),
    );
    expect(modes).toEqual(['644', '700', '664', '600']);
    expect(statSync(join(root, 'src/new')).size).toBe(0);
    for (const path of ['src/new', 'src/dir', 'src/deep/file']) {
      expect(await kindOf(newFile(path))).toBe('exists');
      expect(await kindOf(newDirectory(path))).toBe('exists');
    }
    expect(readFileSync(join(root, 'src/deep/file'), 'utf8')).toBe('old\n');
  });

  it('tell a parent that is missing from one that is no directory, for each operation', async () => {
    expect(await everyWay('missing/new')).toEqual(Array(4).fill('parent-missing'));
    expect(await everyWay('src/deep/file/new')).toEqual(Array(4).fill('parent-not-directory'));
    expect(await kindOf(read('src/none'))).toBe('missing');
    expect(await kindOf(write('src/none', 'x'))).toBe('missing');
    expect(await kindOf(read('src/deep'))).toBe('not-regular');
    expect(await kindOf(write('src/deep', 'x'))).toBe('not-regular');
    expect(await everyWay('n'.repeat(256))).toEqual(Array(4).fill('name-too-long'));
    expect(await kindOf(newFile(`${'n'.repeat(300)}/x`))).toBe('name-too-long');
  });

  it('behind a link, wherever in the path and wherever it leads, are refused', async () => {
    symlinkSync(outside, join(root, 'absolute'));
    symlinkSync('../outside', join(root, 'relative'));
    symlinkSync('src', join(root, 'inside'));
    symlinkSync('/proc/self/cwd', join(root, 'magic'));
    symlinkSync('../../../outside', join(root, 'src/deep/link'));
    symlinkSync('loop', join(root, 'loop'));
    for (const path of ['absolute', 'relative', 'inside', 'magic', 'src/deep/link', 'loop']) {
      expect(await everyWay(`${path}/file`), path).toEqual(Array(4).fill('unsafe'));
      expect(await everyWay(`${path}/deep/new`), path).toEqual(Array(4).fill('unsafe'));
    }
    expect(readdirSync(outside)).toEqual(['file']);
  });

  it('that are links themselves are neither read, written nor taken for free names', async () => {
    symlinkSync('../outside/file', join(root, 'link'));
    symlinkSync('../outside/none', join(root, 'dangling'));
    symlinkSync('/dev/null', join(root, 'device'));
    for (const path of ['link', 'dangling', 'device'])
      expect(await everyWay(path), path).toEqual(['unsafe', 'unsafe', 'exists', 'exists']);
    expect(readdirSync(outside)).toEqual(['file']);
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('canary\n');
  });

  it('are not what pipes and sockets are, and those are never opened', { timeout: 5_000 }, async () => {
    spawnSync('mkfifo', [join(root, 'pipe')]);
    expect(await everyWay('pipe')).toEqual(['not-regular', 'not-regular', 'exists', 'exists']);
    const { createServer } = await import('node:net');
    const server = createServer().listen(join(root, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    expect(await everyWay('socket')).toEqual(['not-regular', 'not-regular', 'exists', 'exists']);
    server.close();
  });

  it('with several names keep what the other names show, outside of the workspace, too', async () => {
    linkSync(join(outside, 'file'), join(root, 'shared'));
    expect(await read('shared')).toMatchObject({ text: 'canary\n' });
    await write('shared', 'mine\n', revisionOf(Buffer.from('canary\n')));
    expect(readFileSync(join(root, 'shared'), 'utf8')).toBe('mine\n');
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('canary\n');
  });

  it('are not looked for when the root is gone, a file, a link, or behind one', async () => {
    const place = join(base, 'moved');
    renameSync(root, place);
    expect(await everyWay('src/deep/file')).toEqual(Array(4).fill('root-gone'));
    writeFileSync(root, '');
    expect(await everyWay('src/deep/file')).toEqual(Array(4).fill('root-gone'));
    rmSync(root);
    symlinkSync(place, root);
    expect(await everyWay('src/deep/file')).toEqual(Array(4).fill('unsafe'));
    const behind = join(base, 'behind');
    symlinkSync(base, behind);
    expect(await kindOf(readFile(join(behind, 'moved'), 'src/deep/file', openParent))).toBe('unsafe');
  });

  it('survive a text that was prepared and never put in place', async () => {
    const locks = new KeyedLocks();
    const gate = new CommitGate();
    const { ino, dev } = statSync(join(root, 'src/deep'), { bigint: true });
    const release = await locks.acquire([{ key: `${dev}:${ino}` }]);
    const expected = revisionOf(Buffer.from('old\n'));
    const writing = writeFile({
      root,
      path: 'src/deep/file',
      text: 'new',
      expected,
      gate,
      locks,
      log,
      openParent,
    });
    const isPrepared = () =>
      readdirSync(join(root, 'src/deep')).some((name) => name.startsWith(PREPARED_PREFIX));
    while (!isPrepared()) await new Promise((resolve) => setImmediate(resolve));
    expect(gate.cancel()).toBe(true);
    release();
    expect(await kindOf(writing)).toBe('canceled');
    expect(readdirSync(join(root, 'src/deep'))).toEqual(['file']);
    expect(readFileSync(join(root, 'src/deep/file'), 'utf8')).toBe('old\n');
  });
});

describe.runIf(isLinux)('a directory that was found by descriptor', () => {
  it('stays the one that it was when a link takes its place', async () => {
    await using entry = await openBeneath(root, 'src/deep/file', openByDescriptor);
    renameSync(join(root, 'src'), join(root, 'away'));
    symlinkSync(outside, join(root, 'src'));
    mkdirSync(join(outside, 'deep'));
    writeFileSync(join(outside, 'deep/file'), 'canary\n');
    await using file = await entry.parent.openFile('file', 'read');
    expect(await file.handle.readFile('utf8')).toBe('old\n');
    await expect(entry.parent.requireInPlace()).rejects.toMatchObject({ kind: 'unsafe' });
  });

  it('is refused when it was moved out of the workspace', async () => {
    await using entry = await openBeneath(root, 'src/deep/file', openByDescriptor);
    renameSync(join(root, 'src'), join(outside, 'src'));
    await expect(entry.parent.requireInPlace()).rejects.toMatchObject({ kind: 'unsafe' });
  });

  it('is refused when it was deleted, and nothing is made in it', async () => {
    await using entry = await openBeneath(root, 'src/deep/new', openByDescriptor);
    rmSync(join(root, 'src'), { recursive: true });
    mkdirSync(join(root, 'src/deep'), { recursive: true });
    await expect(entry.parent.requireInPlace()).rejects.toMatchObject({ kind: 'unsafe' });
    expect(existsSync(join(root, 'src/deep/new'))).toBe(false);
  });

  it('is passed without the right to list it', async () => {
    chmodSync(join(root, 'src'), 0o311);
    expect(await readFile(root, 'src/deep/file')).toMatchObject({ text: 'old\n' });
  });

  it('is not looked for where descriptors have no names, or something else has theirs', async () => {
    for (const descriptors of [join(base, 'none'), outside])
      await expect(openByDescriptor(root, [], descriptors)).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
