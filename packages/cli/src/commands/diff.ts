/** `roost diff`: what a session changed since it was started, committed or not, new files included. */
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { printDiff, type DiffOptions } from '../diff-text.ts';
import { readOptionalPath } from '../workspace-path.ts';

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<session>', 'name, id, or unique beginning of an id')
    .argument('[path]', 'only this file or directory; from the root of the workspace')
    .option('--stat', 'only numbers of lines')
    .option('--json', 'print one JSON document')
    .action(async (selector: string, named: string | undefined, options: DiffOptions) => {
      const path = readOptionalPath(named);
      const { id } = await context.resolveSession(selector);
      const diff = await (await context.node()).request('session.diff', { sessionId: id, ...path });
      printDiff(context, diff, options);
    });
}
