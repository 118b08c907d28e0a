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
  const { here, workspace } = await findWorkspaceHere(context, 'name one before the path');
  return { workspaceId: workspace.id, path: pathFromHere(here, first, workspace) };
}

/** The one that is named, else the registered one around the current directory. */
export async function readWorkspace(
  context: CommandContext,
  named: string | undefined,
): Promise<WorkspaceId> {
  if (named !== undefined) return WorkspaceId.parse(readWorkspaceId(named));
  return (await findWorkspaceHere(context, 'name one')).workspace.id;
}

/** From the root of the workspace, as far as it is named; a slash at its end, and `.` for all of it, are understood. */
export function readOptionalPath(text: string | undefined): { readonly path?: RepositoryPath } {
  const plain = text?.replace(/^(?:\.\/)+/, '').replace(/(.)\/+$/, '$1');
  return plain === undefined || plain === '.' ? {} : { path: readRepositoryPath(plain) };
}

async function findWorkspaceHere(context: CommandContext, advice: string) {
  const here = canonicalDirectory(context.terminal.directory);
  const { workspaces } = await (await context.node()).request('workspace.list', {});
  const workspace = deepestAround(here, workspaces);
  if (workspace === undefined) throw new UsageError(`no workspace is registered around here; ${advice}`);
  return { here, workspace };
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
