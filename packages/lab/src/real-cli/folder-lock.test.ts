import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withFolderLock } from './folder-lock.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'roost-lock-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

test('holders come one after the other and leave nothing behind, also after a failure', async () => {
  const folder = join(root, 'one.lock');
  let inside = 0;
  const work = async () => {
    expect(++inside).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    inside--;
  };
  await Promise.all([
    withFolderLock(folder, 10_000, work),
    withFolderLock(folder, 10_000, work),
    withFolderLock(folder, 10_000, work),
  ]);
  await expect(withFolderLock(folder, 1000, () => Promise.reject(new Error('broken')))).rejects.toThrow(
    'broken',
  );
  expect(await readdir(root)).toEqual([]);
});

test('the lock of a dead process is taken over, that of a living one is not', async () => {
  const folder = join(root, 'two.lock');
  const dead = spawnSync(process.execPath, ['-e', '']).pid;
  await mkdir(folder);
  await writeFile(join(folder, 'pid'), String(dead));
  await expect(withFolderLock(folder, 5000, () => Promise.resolve('taken'))).resolves.toBe('taken');
  await mkdir(folder);
  await writeFile(join(folder, 'pid'), String(process.pid));
  await expect(withFolderLock(folder, 300, () => Promise.resolve())).rejects.toThrow('still held');
});
