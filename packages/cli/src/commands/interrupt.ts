/** `roost interrupt`: ends the turn of an agent; Ctrl-C in other terminals, SIGINT to other pipe sessions. */
import type { Command } from 'commander';
import { addressOf } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';

export function define(command: Command, context: CommandContext): void {
  command.argument('<session>', 'name, id, or unique beginning of an id').action(async (selector: string) => {
    const session = await context.resolveSession(selector);
    await (await context.node()).request('session.interrupt', { ...addressOf(session) });
  });
}
