/** `roost token`: the secret with which a client proves itself to this node. */
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

export function define(command: Command, context: CommandContext): void {
  command
    .option('--observer', 'the one that may only look')
    .action(async (options: { observer?: boolean }) => {
      const { nodeToken } = await import('@roost/client');
      const role = options.observer === true ? 'observer' : 'operator';
      // The first start of a node makes it.
      await context.node();
      context.print(nodeToken(await context.home(), role));
      context.note(
        role === 'observer'
          ? 'whoever has this token sees everything on this node, and changes nothing'
          : 'whoever has this token can run any command as you; roost token --observer   gives one that may only look',
      );
    });
}
