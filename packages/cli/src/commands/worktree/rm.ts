/** `roost worktree rm`: removes a worktree from which nothing is lost; its branch stays. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { LeaseId } from '@roost/protocol';
import type { CommandContext } from '../../command-context.ts';
import { UsageError } from '../../usage-error.ts';
import { MANAGED_MS, printEnd } from './managed.ts';
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
    .argument('<worktree>', 'its directory, the id of its workspace, or the lease of a managed one')
    .option('--discard-ignored', 'delete ignored files with it')
    .option('--workspace <workspace>', 'of which repository (default: that of the worktree)')
    .option('--json', 'print one JSON document')
    .action(async (named: string, options: RmOptions) => {
      const connection = await context.node();
      const managed = LeaseId.safeParse(named);
      if (managed.success) {
        const lease = await connection.request(
          'worktree.cleanup',
          { leaseId: managed.data },
          { timeoutMs: MANAGED_MS },
        );
        if (options.json === true) context.printJson(lease);
        else printEnd(context, lease);
        return;
      }
      const { workspaces } = await connection.request('workspace.list', {});
      const directory = resolve(context.terminal.directory, named);
      const at = workspaces.find(({ root }) => root === directory);
      const called = workspaces.find(({ id }) => id === named);
      if (called !== undefined && called.root !== directory && existsSync(directory)) {
        throw new UsageError(
          `${named} is a directory here and the id of ${called.root}: give the path of the one to remove, such as ./${named}`,
        );
      }
      const workspace = at ?? called;
      // Through its own workspace, as long as it is there to be asked about.
      const around = workspace !== undefined && existsSync(workspace.root) ? workspace.id : undefined;
      const gone = await connection.request('worktree.remove', {
        sourceWorkspaceId: await sourceWorkspace(context, options.workspace, around),
        targetRoot: workspace?.root ?? directory,
        discardIgnored: options.discardIgnored === true,
      });
      if (options.json === true) {
        context.printJson(gone);
        return;
      }
      context.print(`removed ${gone.targetRoot}`);
      for (const ref of gone.recoveryRefs) context.print(`kept its commits: ${ref}`);
    });
}
