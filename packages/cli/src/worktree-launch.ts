/**
 * `roost run --worktree`: a directory of its own for what is launched. With a worktree profile for the workspace the node makes one,
 * owns it and takes it away; with none, an ordinary worktree is made as by `roost worktree add`.
 */
import { randomUUID } from 'node:crypto';
import type { NodeConnection } from '@roost/client';
import { FailureError, type LeaseId, type WorktreeLease, type WorktreeProfileSummary } from '@roost/protocol';
import type { CommandContext } from './command-context.ts';
import { MANAGED_MS } from './commands/worktree/managed.ts';
import { UsageError } from './usage-error.ts';
import { workspaceAround } from './workspace-around.ts';

interface WorktreeWords {
  /** A branch, or true for one that is made up. */
  readonly worktree: string | true;
  readonly worktreeProfile?: string | undefined;
  readonly name?: string | undefined;
  /** Where the launch was asked for. */
  readonly directory: string;
}

interface WorktreePlace {
  readonly directory: string;
  /** null for an ordinary worktree. */
  readonly leaseId: LeaseId | null;
}

export async function placeInWorktree(context: CommandContext, words: WorktreeWords): Promise<WorktreePlace> {
  const connection = await context.node();
  const { id: workspaceId } = await workspaceAround(connection, words.directory);
  const branch = words.worktree === true ? null : words.worktree;
  const profile = await chooseProfile(connection, workspaceId, words.worktreeProfile);
  if (profile === null) {
    const made = await connection.request(
      'worktree.create',
      {
        sourceWorkspaceId: workspaceId,
        branch: branch ?? `roost/${words.name ?? randomUUID().slice(0, 8)}`,
      },
      { timeoutMs: MANAGED_MS },
    );
    context.note(`made ${made.worktree.path}; roost worktree rm ${made.workspace.id}   takes it away`);
    return { directory: made.worktree.path, leaseId: null };
  }
  const lease = await connection.request(
    'worktree.allocate',
    {
      profileId: profile.id,
      expectedRevision: profile.revision,
      name: words.name ?? null,
      branch,
      idempotencyKey: randomUUID(),
    },
    { timeoutMs: MANAGED_MS },
  );
  return { directory: await directoryOf(connection, lease), leaseId: lease.id };
}

/** A managed worktree that is there. */
export async function leasePlace(context: CommandContext, named: string): Promise<WorktreePlace> {
  const connection = await context.node();
  const { leases } = await connection.request('worktree.leases', {});
  const lease = leases.find(({ id }) => id === named);
  if (lease === undefined) throw new FailureError('unknown-worktree-lease', { leaseId: named });
  return { directory: await directoryOf(connection, lease), leaseId: lease.id };
}

/** Nothing came to run in it: a managed one goes again, unless something stands against that. */
export async function giveBack(context: CommandContext, { leaseId }: WorktreePlace): Promise<void> {
  if (leaseId === null) return;
  try {
    const connection = await context.node();
    await connection.request('worktree.cleanup', { leaseId }, { timeoutMs: MANAGED_MS });
  } catch {
    context.note(`its worktree stays: roost worktree resolve ${leaseId}   shows it`);
  }
}

/** The one that was named, or the only one of the workspace. */
async function chooseProfile(
  connection: NodeConnection,
  workspaceId: string,
  named: string | undefined,
): Promise<WorktreeProfileSummary | null> {
  const { profiles } = await connection.request('worktree.profiles', {});
  if (named !== undefined) {
    const found = profiles.find(({ id }) => id === named);
    if (found === undefined) throw new FailureError('unknown-worktree-profile', { profileId: named });
    return found;
  }
  const own = profiles.filter(({ sourceWorkspace }) => sourceWorkspace === workspaceId);
  if (own.length <= 1) return own[0] ?? null;
  throw new UsageError(`--worktree-profile is one of ${own.map(({ id }) => id).join(', ')}`);
}

async function directoryOf(connection: NodeConnection, { workspaceId }: WorktreeLease): Promise<string> {
  const { workspaces } = await connection.request('workspace.list', {});
  const found = workspaces.find(({ id }) => id === workspaceId);
  if (found === undefined) throw new FailureError('unknown-workspace', { workspaceId });
  return found.root;
}
