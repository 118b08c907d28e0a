/** `roost timeline`: what an agent that is spoken with said and did. */
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { followTimeline } from '../follow-timeline.ts';
import { interruption } from '../interruption.ts';
import { paletteFor } from '../paint.ts';
import { TimelineText } from '../timeline-text.ts';

interface TimelineOptions {
  readonly follow?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<session>', 'name, id, or unique beginning of an id')
    .option('-f, --follow', 'go on with what comes, until the session ends')
    .option('--json', 'print one JSON document a line')
    .action(async (selector: string, options: TimelineOptions) => {
      const session = await context.resolveSession(selector);
      const { stdout, env } = context.terminal;
      const text = new TimelineText(paletteFor(stdout, env));
      using stop = interruption();
      const entries = followTimeline(context, session, {
        from: 0,
        follow: options.follow === true,
        signal: stop.signal,
      });
      for await (const entry of entries)
        stdout.write(options.json === true ? `${JSON.stringify(entry)}\n` : text.add(entry.event));
      stdout.write(text.end());
    });
}
