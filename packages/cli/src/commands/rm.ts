/** `roost rm`: forgets ended sessions and what is kept of them. */
import type { Command } from 'commander';
import { addressOf } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { forEachSession } from '../each-selector.ts';

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<session...>', 'names, ids, or unique beginnings of ids')
    .action(async (selectors: string[]) => {
      await forEachSession(context, selectors, async (session) => {
        await (await context.node()).request('session.remove', addressOf(session));
        context.print(`removed ${session.name}`);
      });
    });
}
