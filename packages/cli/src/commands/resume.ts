/** `roost resume`: runs an ended agent session on, as the next run of its record, and brings it to this terminal. */
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { readSize } from '../operands.ts';
import { ownSize } from '../own-size.ts';
import { readInitialPrompt, resumeRecord } from '../resume-record.ts';

interface ResumeOptions {
  readonly detach?: boolean;
  readonly prompt?: string;
  readonly size?: string;
  readonly json?: boolean;
  readonly detachKey?: string;
}

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<record>', 'name, id, or unique beginning of an id; roost records ls   lists them')
    .option('-d, --detach', 'do not attach; print name and id')
    .option('-p, --prompt <text>', 'what to begin with')
    .option('-s, --size <COLSxROWS>', 'terminal size (default: that of this terminal, else 80x24)')
    .option('--json', 'do not attach; print record and session as one JSON document')
    .option('--detach-key <key>', "key that begins 'd' to detach (default: $ROOST_DETACH_KEY, else ctrl-\\)")
    .action(async (selector: string, options: ResumeOptions) => {
      const { stdin, stdout, env } = context.terminal;
      const size = options.size === undefined ? ownSize(stdout) : readSize(options.size);
      const prompt = options.prompt === undefined ? undefined : readInitialPrompt(options.prompt);
      const { parseDetachKey } = await import('../attach/detach-key-name.ts');
      const key = parseDetachKey(options.detachKey ?? env.ROOST_DETACH_KEY);
      const resumed = await resumeRecord(context, selector, { size, prompt });
      const { session } = resumed;
      const attaches = options.detach !== true && session.transport === 'pty' && stdout.isTTY && stdin.isTTY;
      if (options.json === true) context.printJson(resumed);
      else if (!attaches) context.print(`${session.name} ${session.id}`);
      else {
        const { attachOrShow } = await import('../attach/attach-session.ts');
        await attachOrShow(context, session, key);
      }
    });
}
