/** `[WORKSPACE] PATH` as an entry of a workspace: alone, the path is one from here, in the registered workspace around. */
import { relative, resolve, sep } from 'node:path';
import { RepositoryPath, WorkspaceId } from '@roost/protocol';
import type { CommandContext } from './command-context.ts';
import { readWorkspaceId } from './operands.ts';
import { UsageError } from './usage-error.ts';
import { canonicalDirectory, deepestAround } from './workspace-around.ts';

export interface WorkspacePath {
  readonly workspaceId: WorkspaceId;
  readonly path: RepositoryPath;
}

export async function readWorkspacePath(
  context: CommandContext,
  [first = '', second]: readonly string[],
): Promise<WorkspacePath> {
  if (second !== undefined) {
    return { workspaceId: WorkspaceId.parse(readWorkspaceId(first)), path: readRepositoryPath(second) };
  }
  const here = canonicalDirectory(context.terminal.directory);
  const { workspaces } = await (await context.node()).request('workspace.list', {});
  const workspace = deepestAround(here, workspaces);
  if (workspace === undefined)
    throw new UsageError('no workspace is registered around here; name one before the path');
  return { workspaceId: workspace.id, path: pathFromHere(here, first, workspace) };
}

function pathFromHere(
  here: string,
  path: string,
  { id, root }: { id: string; root: string },
): RepositoryPath {
  if (path === '' || path.endsWith(sep)) throw new UsageError(`'${path}' is no path of an entry`);
  const inside = relative(root, resolve(here, path));
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`)) {
    throw new UsageError(`'${path}' is not in workspace ${id}`);
  }
  return readRepositoryPath(inside);
}

function readRepositoryPath(text: string): RepositoryPath {
  const parsed = RepositoryPath.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UsageError(`'${text}': ${parsed.error.issues[0]?.message ?? 'no path in a workspace'}`);
}
