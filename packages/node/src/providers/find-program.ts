// Where a provider's program is. Looks at the file system, starts nothing. A launch takes the first that can run; what only bears the
// name and cannot run is told when there is nothing else.
import { lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ProviderFault } from '@roost/protocol';
import { findExecutable, findLaunchFile, searchPaths, type ProviderManifest } from '@roost/providers';
import { systemErrorCode } from '@roost/storage';

export type FoundProgram =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'broken'; readonly path: string; readonly fault: ProviderFault }
  | { readonly kind: 'absent' };

/** `environment`: what a session of that provider would have. */
export function findProgram(
  provider: ProviderManifest,
  environment: Readonly<Record<string, string | undefined>>,
): FoundProgram {
  const found = findLaunchFile(provider, environment, (name, paths) => findExecutable(name, paths, '/'));
  if (found !== null) return { kind: 'found', path: found.path };
  const { executable } = provider;
  if (executable.kind !== 'search') return { kind: 'absent' };
  for (const directory of searchPaths(provider, environment).flatMap((paths) => paths.split(':'))) {
    // What a relative entry means depends on where a session starts.
    if (!directory.startsWith('/')) continue;
    for (const name of executable.names) {
      const path = join(directory, name);
      const fault = faultOf(path);
      if (fault !== null) return { kind: 'broken', path, fault };
    }
  }
  return { kind: 'absent' };
}

/** null: nothing is there, or something that nobody took for a program, such as a directory. */
function faultOf(path: string): ProviderFault | null {
  try {
    const own = lstatSync(path, { throwIfNoEntry: false });
    if (own === undefined) return null;
    const target = statSync(path, { throwIfNoEntry: false });
    if (target === undefined) return own.isSymbolicLink() ? 'target-gone' : null;
    return target.isFile() ? 'not-executable' : null;
  } catch (error) {
    return systemErrorCode(error) === 'ELOOP' ? 'endless' : null;
  }
}
