// Where a directory belongs, told by the file system alone: its canonical path, and the top of the git tree around it. No git
// process is started.
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';

export interface Location {
  /** Links resolved. */
  readonly directory: string;
  /** The nearest directory upward that holds `.git`; null outside of any git tree. */
  readonly gitRoot: string | null;
}

/** null when it is no directory that can be entered. */
export async function locate(path: string): Promise<Location | null> {
  try {
    const directory = await realpath(path);
    if (!(await stat(directory)).isDirectory()) return null;
    await access(directory, constants.R_OK | constants.X_OK);
    return { directory, gitRoot: await findGitRoot(directory) };
  } catch {
    return null;
  }
}

async function findGitRoot(from: string): Promise<string | null> {
  for (let at = from; ; at = dirname(at)) {
    if (await exists(join(at, '.git'))) return at;
    if (dirname(at) === at) return null;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

/** The deepest of the roots that is the directory or lies above it. */
export function deepestRootAround(directory: string, roots: readonly string[]): string | null {
  let found: string | null = null;
  for (const root of roots) {
    const prefix = root.endsWith(sep) ? root : root + sep;
    const around = directory === root || directory.startsWith(prefix);
    if (around && (found === null || root.length > found.length)) found = root;
  }
  return found;
}
