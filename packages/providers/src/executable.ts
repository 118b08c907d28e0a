/**
 * Finds the file that a name stands for, as `execvp` would, before anything is started: a PTY reports a missing program
 * only as text on the screen of a child that "exited".
 */
import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';

/**
 * @param pathVariable PATH of the child; an empty or relative entry is taken from `directory`, as the child would.
 * @param directory The child's working directory; a name with a slash starts there.
 */
export function findExecutable(
  name: string,
  pathVariable: string | undefined,
  directory: string,
): string | null {
  if (name === '' || name.includes('\0')) return null;
  if (name.includes('/')) {
    const path = resolve(directory, name);
    return isExecutableFile(path) ? path : null;
  }
  for (const entry of (pathVariable ?? '').split(':')) {
    const path = join(isAbsolute(entry) ? entry : resolve(directory, entry), name);
    if (isExecutableFile(path)) return path;
  }
  return null;
}

function isExecutableFile(path: string): boolean {
  try {
    // The super-user may "execute" any file as far as access() tells on some systems: look at the bits too.
    const stats = statSync(path);
    if (!stats.isFile() || (stats.mode & 0o111) === 0) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
