/** What a word may mean where a worktree is named: its directory, the id of its workspace, or its branch. Never a guess between two. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { NodeConnection } from '@roost/client';
import { FailureError, WorkspaceId, type Worktree } from '@roost/protocol';
import type { CommandContext } from '../../command-context.ts';
import { readWorkspaceId } from '../../operands.ts';
import { UsageError } from '../../usage-error.ts';
import { canonicalDirectory, deepestAround } from '../../workspace-around.ts';

interface NamedWorktree {
  readonly path: string;
  /** Its own workspace. */
  readonly workspaceId: string | null;
  /** The workspace through which its repository can be asked, as far as one is known. */
  readonly listedBy: string | undefined;
}

interface Place {
  readonly id: string;
  readonly root: string;
}

/** One repository. */
export interface Listed {
  /** Through which it was listed. */
  readonly workspaceId: string;
  readonly worktrees: readonly Pick<Worktree, 'path' | 'branch' | 'isMain'>[];
}

/** `source`: of which repository, when that was said. @throws UsageError when nothing, or more than one thing, has that name. */
export async function findNamedWorktree(
  context: CommandContext,
  named: string,
  source: string | undefined,
): Promise<NamedWorktree> {
  const connection = await context.node();
  const { workspaces } = await connection.request('workspace.list', {});
  const directory = canonicalPlace(resolve(context.terminal.directory, named));
  const around = deepestAround(canonicalDirectory(context.terminal.directory), workspaces);
  const listed = await list(
    connection,
    workspaces,
    source === undefined ? around?.id : readWorkspaceId(source),
  );
  const meanings = meaningsOf(named, { directory, isThere: existsSync(directory) }, workspaces, listed);
  const [path, ...more] = meanings.keys();
  if (more.length > 0) {
    const all = [...meanings].map(([one, why]) => `${one} (${why.join(', ')})`);
    throw new UsageError(
      `'${named}' is more than one: ${all.join('; ')}: give the path of the one that is meant`,
    );
  }
  if (path === undefined && listed.length > 0) {
    throw new UsageError(
      `'${named}' is no worktree: nothing known here has that directory, workspace or branch; roost worktree ls   lists them`,
    );
  }
  const target = path ?? directory;
  const lister = listed.find(({ worktrees }) => worktrees.some((one) => one.path === target));
  const own = workspaces.find(({ root }) => root === target)?.id;
  // Its own workspace may be the only one of its repository, as long as it is there to be asked about.
  const listedBy = lister?.workspaceId ?? (existsSync(target) ? own : undefined);
  return { path: target, workspaceId: own ?? null, listedBy };
}

/** By path, what makes the word mean it. A main checkout, which is never removed, is meant only when nothing else is. */
export function meaningsOf(
  named: string,
  { directory, isThere }: { readonly directory: string; readonly isThere: boolean },
  workspaces: readonly Place[],
  listed: readonly Listed[],
): Map<string, string[]> {
  const worktrees = listed.flatMap((one) => one.worktrees);
  const meanings = new Map<string, string[]>();
  const add = (path: string, why: string) => {
    const whys = meanings.get(path) ?? [];
    if (!whys.includes(why)) meanings.set(path, [...whys, why]);
  };
  const isKnown = [...worktrees.map(({ path }) => path), ...workspaces.map(({ root }) => root)].includes(
    directory,
  );
  if (isThere || isKnown) add(directory, 'a directory');
  const called = workspaces.find(({ id }) => id === named);
  if (called !== undefined) add(called.root, `workspace ${named}`);
  const holders = worktrees.filter(({ branch }) => branch === named);
  for (const { path, isMain } of holders) if (!isMain) add(path, `branch ${named}`);
  if (meanings.size === 0) for (const { path } of holders) add(path, `branch ${named}`);
  return meanings;
}

/** The repository of one workspace; without one, those of all. Nothing is registered for it. */
async function list(
  connection: NodeConnection,
  workspaces: readonly Place[],
  source: string | undefined,
): Promise<Listed[]> {
  const listed: Listed[] = [];
  for (const { id, root } of source === undefined ? workspaces : [{ id: source, root: '' }]) {
    // Each repository once, whichever of its worktrees are workspaces.
    if (listed.some(({ worktrees }) => worktrees.some(({ path }) => path === root))) continue;
    try {
      const workspaceId = WorkspaceId.parse(id);
      listed.push({ workspaceId, ...(await connection.request('worktree.list', { workspaceId })) });
    } catch (error) {
      // No repository, or one that cannot be read now: what is asked of it is refused with its reason.
      if (!(error instanceof FailureError) || error.failure.code === 'backend-busy') throw error;
    }
  }
  return listed;
}

/** As git lists it: links of the directories above resolved, as far as they are there. */
function canonicalPlace(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
