/**
 * `roost logs`: what a session wrote. Of a terminal session the text of its screen and scrollback, of a pipe session the
 * bytes as they came.
 */
import type { Command } from 'commander';
import { FailureError, SCREEN_LINES_MAX, type Session } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { interruption } from '../interruption.ts';
import { readCount } from '../operands.ts';
import { screenText } from '../screen-text.ts';
import { UsageError } from '../usage-error.ts';

/** Lines of a terminal session shown when none are asked for. */
const LINES_DEFAULT = 200;

interface LogsOptions {
  readonly screen?: boolean;
  readonly lines?: string;
  readonly follow?: boolean;
  readonly stderr?: boolean;
}

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<session>', 'name, id, or unique beginning of an id')
    .option('--screen', 'only what is on the screen')
    .option('-n, --lines <count>', `the last lines (default: ${LINES_DEFAULT}; of a pipe session all)`)
    .option('-f, --follow', 'go on with what is written, until the session ends')
    .option('--stderr', 'the standard error of a pipe session')
    .action(async (selector: string, options: LogsOptions) => {
      const lines = options.lines === undefined ? undefined : readCount(options.lines, SCREEN_LINES_MAX);
      if (options.screen === true && options.follow === true) {
        throw new UsageError('--screen is one moment, --follow is many');
      }
      const session = await context.resolveSession(selector);
      if (session.transport === 'pipe') {
        if (options.screen === true) throw new FailureError('unsupported-transport');
        const { printPipeOutput } = await import('../pipe-logs.ts');
        using stop = interruption();
        await printPipeOutput(context, session, {
          stream: options.stderr === true ? 'stderr' : 'stdout',
          lines,
          follow: options.follow === true,
          signal: stop.signal,
        });
        return;
      }
      if (options.stderr === true)
        throw new UsageError('a terminal session has one output; leave --stderr out');
      if (options.follow === true) {
        const { followTerminal } = await import('../follow-terminal.ts');
        using stop = interruption();
        await followTerminal(context, session, stop.signal, () =>
          printScreen(context, session, false, lines),
        );
        return;
      }
      await printScreen(context, session, options.screen === true, lines);
    });
}

async function printScreen(
  context: CommandContext,
  session: Session,
  screenOnly: boolean,
  lines = LINES_DEFAULT,
): Promise<void> {
  const { lines: kept } = await (
    await context.node()
  ).request('session.readScreen', { sessionId: session.id, scrollback: screenOnly ? 0 : lines });
  context.terminal.stdout.write(screenText(kept, screenOnly ? undefined : lines));
}
