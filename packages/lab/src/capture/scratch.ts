// The folders of a capture. Their names are neutral and always the same, so that what the CLIs print of them needs no
// rewriting, which would break the layout of a screen.
import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withFolderLock } from '../real-cli/folder-lock.ts';

export interface Scratch {
  /** HOME of the CLI; the project lies in it. */
  home: string;
  project: string;
}

const ROOT = '/tmp/roost-capture';
/** Longer than any capture of one CLI: another capture has the folders meanwhile. */
const LOCK_DEADLINE_MS = 900_000;

/** Works in a fresh home with a git repository of one commit; what an interrupted capture left behind is cleared away. */
export function withScratch<Result>(work: (scratch: Scratch) => Promise<Result>): Promise<Result> {
  return withFolderLock(`${ROOT}.lock`, LOCK_DEADLINE_MS, async () => {
    await clear();
    try {
      return await work(await makeScratch());
    } finally {
      await clear();
    }
  });
}

const clear = (): Promise<void> =>
  rm(ROOT, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });

async function makeScratch(): Promise<Scratch> {
  const project = join(ROOT, 'project');
  await mkdir(project, { recursive: true });
  await writeFile(join(project, 'README.md'), '# project\n');
  const date = '2026-01-01T00:00:00Z';
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=dev', '-c', 'user.email=dev@example.com', ...args], {
      cwd: project,
      stdio: 'ignore',
      env: { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
    });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'start');
  return { home: ROOT, project };
}
