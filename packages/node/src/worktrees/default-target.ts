// Where a worktree goes when nobody says: beside the main checkout, never in it, so that nothing of the repository sees it.
import { mkdir, rmdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { FailureError } from '@roost/protocol';
import { systemErrorCode } from '@roost/storage';
import { guarded } from './worktree-target.ts';

/** `<repository>.worktrees/<branch>`, slashes of the branch as dashes. */
export function defaultTarget(mainRoot: string, branch: string): string {
  return join(`${mainRoot}.worktrees`, branch.replaceAll('/', '-'));
}

/**
 * Makes the directory in which such worktrees lie, when it is not there. Answers how to take it away again when nothing came to be
 * in it.
 * @throws FailureError: worktree-conflict; worktree-protected: the repository is that of a submodule, among git's own things.
 */
export async function makeDefaultParent(target: string): Promise<() => Promise<void>> {
  if (target.split(sep).includes('.git')) throw guarded('inside-git', target);
  try {
    await mkdir(dirname(target));
    return () => rmdir(dirname(target)).catch(() => undefined);
  } catch (cause) {
    if (systemErrorCode(cause) === 'EEXIST') return () => Promise.resolve();
    throw new FailureError('worktree-conflict', { path: target, why: 'no-parent' }, { cause });
  }
}
