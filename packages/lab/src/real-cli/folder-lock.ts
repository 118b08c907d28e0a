// A lock between processes of one machine, made of a folder. The holder's pid is inside, so that a lock whose holder died
// is taken over instead of blocking for ever.
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Time for a holder to write its pid after making the folder. */
const UNNAMED_GRACE_MS = 10_000;
const RETRY_MS = 200;

export async function withFolderLock<Result>(
  folder: string,
  deadlineMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  await acquire(folder, deadlineMs);
  try {
    return await work();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function acquire(folder: string, deadlineMs: number): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await tryMake(folder))) {
    if (await isAbandoned(folder)) await discard(folder);
    else if (performance.now() > deadline)
      throw new Error(`${folder} is still held after ${deadlineMs} ms; remove it if nobody works there`);
    else await delay(RETRY_MS);
  }
  await writeFile(join(folder, 'pid'), String(process.pid));
}

async function tryMake(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function isAbandoned(folder: string): Promise<boolean> {
  try {
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8').catch(() => ''));
    if (pid > 0) return !isAlive(pid);
    return Date.now() - (await stat(folder)).mtimeMs > UNNAMED_GRACE_MS;
  } catch {
    // Released meanwhile: the next try makes it.
    return false;
  }
}

/** Renaming decides who of several finders clears it away. */
async function discard(folder: string): Promise<void> {
  const aside = `${folder}.abandoned-${process.pid}-${Date.now()}`;
  try {
    await rename(folder, aside);
  } catch {
    return;
  }
  await rm(aside, { recursive: true, force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
