import { execFileSync } from 'node:child_process';

/** Makes a git repository of a directory, with everything in it committed on `main`. */
export function makeRepository(directory: string): void {
  const git = (...args: string[]) => execFileSync('git', ['-C', directory, ...args]);
  git('init', '--quiet', '--initial-branch', 'main');
  git('add', '.');
  git('-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '--quiet', '--message', 'Begin');
}
