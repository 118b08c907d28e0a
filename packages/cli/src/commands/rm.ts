/** `roost rm`: forgets ended sessions and what is kept of them. */
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { forEachSession } from '../each-session.ts';

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<session...>', 'names, ids, or unique beginnings of ids')
    .action(async (selectors: string[]) => {
      const connection = await context.node();
      await forEachSession(context, selectors, async ({ id, name }) => {
        await connection.request('session.remove', { sessionId: id });
        context.print(`removed ${name}`);
      });
    });
}
