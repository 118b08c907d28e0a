/** The workspace through which the repository of worktrees is asked. */
import type { CommandContext } from '../../command-context.ts';
import { readWorkspaceId } from '../../operands.ts';
import { workspaceAround } from '../../workspace-around.ts';

/** The named one; else `inside`; else the one around this directory. */
export async function sourceWorkspace(
  context: CommandContext,
  named: string | undefined,
  inside?: string,
): Promise<string> {
  if (named !== undefined) return readWorkspaceId(named);
  if (inside !== undefined) return inside;
  return (await workspaceAround(await context.node(), context.terminal.directory)).id;
}
