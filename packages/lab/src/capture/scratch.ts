// The folders of a capture. Their names are neutral and always the same, so that what the CLIs print of them needs no
// rewriting, which would break the layout of a screen.
import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Scratch {
  /** HOME of the CLI; the project lies in it. */
  home: string;
  project: string;
}

const ROOT = '/tmp/roost-capture';

/** A fresh home and a git repository with one commit. Fails when another capture has them. */
export async function makeScratch(): Promise<Scratch> {
  await mkdir(ROOT);
  const project = join(ROOT, 'project');
  await mkdir(project);
  await writeFile(join(project, 'README.md'), '# project\n');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=dev', '-c', 'user.email=dev@example.com', ...args], {
      cwd: project,
      stdio: 'ignore',
      env: {
        ...process.env,
        GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
        GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
      },
    });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'start');
  return { home: ROOT, project };
}

export const removeScratch = (): Promise<void> =>
  rm(ROOT, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
