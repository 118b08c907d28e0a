/**
 * The workspace of a directory, as a plain `roost run` finds it: the deepest registered one around it, else its git tree or
 * itself, registered now.
 */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import type { NodeConnection } from '@roost/client';
import { FailureError, type Workspace } from '@roost/protocol';

type Place = Pick<Workspace, 'id' | 'root'>;

/** `isAbove`: its root is not the directory itself. */
export async function workspaceAround(
  connection: NodeConnection,
  directory: string,
): Promise<Place & { readonly isAbove: boolean }> {
  const canonical = canonicalDirectory(directory);
  const { id, root } = await findOrRegister(connection, canonical);
  return { id, root, isAbove: root !== canonical };
}

async function findOrRegister(connection: NodeConnection, canonical: string): Promise<Place> {
  const { workspaces } = await connection.request('workspace.list', {});
  const found = deepestAround(canonical, workspaces);
  if (found !== undefined) return found;
  try {
    return await connection.request('workspace.register', { root: gitRootOf(canonical) ?? canonical });
  } catch (error) {
    // Somebody else was quicker.
    if (!(error instanceof FailureError) || error.failure.code !== 'duplicate-workspace-root') throw error;
    const again = await connection.request('workspace.list', {});
    const registered = deepestAround(canonical, again.workspaces);
    if (registered === undefined) throw error;
    return registered;
  }
}

export function deepestAround<One extends Place>(
  directory: string,
  workspaces: readonly One[],
): One | undefined {
  return workspaces
    .filter(({ root }) => directory === root || directory.startsWith(root.endsWith(sep) ? root : root + sep))
    .sort((one, other) => other.root.length - one.root.length)[0];
}

/** @throws FailureError: invalid-directory. */
export function canonicalDirectory(directory: string): string {
  try {
    const canonical = realpathSync(directory);
    if (statSync(canonical).isDirectory()) return canonical;
  } catch {
    // The same refusal as for a file.
  }
  throw new FailureError('invalid-directory', { directory });
}

function gitRootOf(directory: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return undefined;
  }
}
