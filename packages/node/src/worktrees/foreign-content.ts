// What lies in a worktree without being of its repository, and would be deleted with it: repositories, also in directories whose
// files this one tracks, where status does not see them; mounted file systems; what cannot be looked through. Links are not followed.
import { lstat, opendir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { FailureError } from '@roost/protocol';
import { systemErrorCode } from '@roost/storage';
import type { Deadline } from '../deadline.ts';

/** @throws FailureError: worktree-dirty (details: `repositories`, `mounts` or `unreadable`, and where), git-timed-out, git-failed. */
export async function requireNothingForeign(path: string, deadline: Deadline): Promise<void> {
  const found = (what: string, directory: string) =>
    new FailureError('worktree-dirty', { path, [what]: 1, names: [`${relative(path, directory)}/`] });
  const { dev } = await lstat(path);
  const stack = [path];
  for (let directory = stack.pop(); directory !== undefined; directory = stack.pop()) {
    if (deadline.hasPassed()) throw new FailureError('git-timed-out');
    try {
      if ((await lstat(directory)).dev !== dev) throw found('mounts', directory);
      const names = new Set<string>();
      for await (const entry of await opendir(directory)) {
        names.add(entry.name);
        const isOwn = directory === path && entry.name === '.git';
        if (entry.isDirectory() && !isOwn) stack.push(join(directory, entry.name));
      }
      const isRepository = names.has('.git') ? directory !== path : isBare(names);
      if (isRepository) throw found('repositories', directory);
    } catch (cause) {
      const code = systemErrorCode(cause);
      if (code === 'EACCES' || code === 'EPERM') throw found('unreadable', directory);
      throw cause instanceof FailureError ? cause : new FailureError('git-failed', {}, { cause });
    }
  }
}

/** What git itself takes for one. */
function isBare(names: ReadonlySet<string>): boolean {
  return names.has('HEAD') && names.has('objects') && names.has('refs');
}
