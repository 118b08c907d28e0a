/** `roost worktree rm`: removes a worktree from which nothing is lost; its branch stays. */
import type { Command } from 'commander';
import type { NodeConnection } from '@roost/client';
import { LeaseId } from '@roost/protocol';
import type { CommandContext } from '../../command-context.ts';
import { BY_HAND_MS, MANAGED_MS, printEnd } from './managed.ts';
import { findNamedWorktree } from './named-worktree.ts';
import { sourceWorkspace } from './source-workspace.ts';

interface RmOptions {
  readonly discardIgnored?: boolean;
  readonly workspace?: string;
  readonly json?: boolean;
}

export function defineRm(command: Command, context: CommandContext): void {
  command
    .command('rm')
    .description('remove a worktree that holds nothing of its own; its branch stays')
    .argument(
      '<worktree>',
      'its directory, its branch, the id of its workspace, or the lease of a managed one',
    )
    .option('--discard-ignored', 'delete ignored files with it')
    .option(
      '--workspace <workspace>',
      'of which repository (default: the one around here, or that of the worktree)',
    )
    .option('--json', 'print one JSON document')
    .action(async (named: string, options: RmOptions) => {
      const connection = await context.node();
      const { leases } = await connection.request('worktree.leases', {});
      const liveLease = (id: string | null) => leases.find((one) => one.id === id)?.id ?? null;
      const called = LeaseId.safeParse(named);
      if (called.success && (liveLease(named) !== null || !(await isWorkspace(connection, named)))) {
        await endManaged(context, called.data, options);
        return;
      }
      // One that was kept goes by hand, whatever its workspace is called.
      const place = await findNamedWorktree(context, named, options.workspace);
      const managed = liveLease(place.workspaceId);
      if (managed !== null) {
        await endManaged(context, managed, options);
        return;
      }
      const gone = await connection.request(
        'worktree.remove',
        {
          sourceWorkspaceId: await sourceWorkspace(context, options.workspace, place.listedBy),
          targetRoot: place.path,
          discardIgnored: options.discardIgnored === true,
        },
        { timeoutMs: BY_HAND_MS },
      );
      if (options.json === true) {
        context.printJson(gone);
        return;
      }
      context.print(`removed ${gone.targetRoot}`);
      for (const ref of gone.recoveryRefs) context.print(`kept its commits: ${ref}`);
    });
}

async function endManaged(context: CommandContext, leaseId: LeaseId, options: RmOptions): Promise<void> {
  const connection = await context.node();
  const lease = await connection.request('worktree.cleanup', { leaseId }, { timeoutMs: MANAGED_MS });
  if (options.json === true) context.printJson(lease);
  else printEnd(context, lease);
}

async function isWorkspace(connection: NodeConnection, named: string): Promise<boolean> {
  const { workspaces } = await connection.request('workspace.list', {});
  return workspaces.some(({ id }) => id === named);
}
