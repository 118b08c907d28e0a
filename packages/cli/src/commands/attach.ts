/** `roost attach`: brings a session to this terminal. */
import type { Command } from 'commander';
import { attachSession } from '../attach/attach-session.ts';
import { parseDetachKey } from '../attach/detach-key-name.ts';
import type { CommandContext } from '../command-context.ts';
import { UsageError } from '../usage-error.ts';

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<session>', 'name, id, or unique beginning of an id')
    .option('-w, --watch', 'only look: nothing that is typed reaches the session')
    .option('--detach-key <key>', "key that begins 'd' to detach (default: $ROOST_DETACH_KEY, else ctrl-\\)")
    .addHelpText(
      'after',
      '\nKeys, after ctrl-\\:\n  d  detach; the session goes on running\n  t  take over: your keystrokes and your size count from now on\n  r  draw the screen anew\n  ctrl-\\  send ctrl-\\ itself',
    )
    .action(async (selector: string, options: { watch?: boolean; detachKey?: string }) => {
      const { stdin, stdout, env } = context.terminal;
      if (!stdin.isTTY || !stdout.isTTY) {
        throw new UsageError('attach needs a terminal; roost logs NAME reads a session without one');
      }
      const key = parseDetachKey(options.detachKey ?? env.ROOST_DETACH_KEY);
      const session = await context.resolveSession(selector);
      await attachSession(context, session, options.watch === true ? 'watch' : 'drive', key);
    });
}
