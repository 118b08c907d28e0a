/** `roost worktree add`: a directory of its own for a branch. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CommandContext } from '../../command-context.ts';
import { readWorkspaceId } from '../../operands.ts';
import { BY_HAND_MS } from './managed.ts';
import { sourceWorkspace } from './source-workspace.ts';

interface AddOptions {
  readonly base?: string;
  readonly path?: string;
  readonly adopt?: boolean;
  readonly workspace?: string;
  readonly id?: string;
  readonly json?: boolean;
}

export function defineAdd(command: Command, context: CommandContext): void {
  command
    .command('add')
    .description('make a worktree for a branch and register it as a workspace')
    .argument('<branch>', 'a new branch')
    .option('--base <revision>', 'where the new branch begins (default: the commit of the workspace)')
    .option('--path <directory>', 'where it goes (default: beside the repository, in REPOSITORY.worktrees)')
    .option('--adopt', 'check out a branch that exists and that no worktree holds')
    .option('--workspace <workspace>', 'of which repository (default: the one around here)')
    .option('--id <id>', 'what to call the new workspace (default: from its directory)')
    .option('--json', 'print one JSON document')
    .action(async (branch: string, options: AddOptions) => {
      const { base, path, adopt = false, id } = options;
      const connection = await context.node();
      const made = await connection.request(
        'worktree.create',
        {
          sourceWorkspaceId: await sourceWorkspace(context, options.workspace),
          branch,
          adopt,
          ...(base === undefined ? {} : { base }),
          ...(path === undefined ? {} : { targetRoot: resolve(context.terminal.directory, path) }),
          ...(id === undefined ? {} : { workspaceId: readWorkspaceId(id) }),
        },
        { timeoutMs: BY_HAND_MS },
      );
      if (options.json === true) {
        context.printJson(made);
        return;
      }
      for (const ref of made.recoveryRefs) context.note(`kept commits of the one that was there: ${ref}`);
      context.print(`${made.workspace.id} ${made.worktree.path}`);
    });
}
