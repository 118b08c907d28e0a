/** `roost stop`: ends sessions with every process that they started. */
import type { Command } from 'commander';
import { addressOf, STOP_GRACE_MS_DEFAULT, STOP_GRACE_MS_MAX } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { forEachSession } from '../each-selector.ts';
import { readSeconds } from '../operands.ts';
import { describeStatus } from '../session-status.ts';
import { UsageError } from '../usage-error.ts';

/** Milliseconds beyond the grace that killing and counting may take. */
const KILL_MS = 30_000;

interface StopOptions {
  readonly force?: boolean;
  readonly grace?: string;
  readonly json?: boolean;
}

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<session...>', 'names, ids, or unique beginnings of ids')
    .option('-f, --force', 'kill at once')
    .option(
      '-g, --grace <seconds>',
      `time to end by itself before it is killed (default: ${STOP_GRACE_MS_DEFAULT / 1000})`,
    )
    .option('--json', 'print the stopped sessions as one JSON document')
    .action(async (selectors: string[], options: StopOptions) => {
      const graceMs = options.grace === undefined ? STOP_GRACE_MS_DEFAULT : readSeconds(options.grace);
      if (graceMs > STOP_GRACE_MS_MAX)
        throw new UsageError(`grace is at most ${STOP_GRACE_MS_MAX / 1000} seconds`);
      const stopped: unknown[] = [];
      await forEachSession(context, selectors, async (session) => {
        const connection = await context.node();
        const answer = await connection.request(
          'session.stop',
          { ...addressOf(session), force: options.force === true, graceMs },
          { timeoutMs: graceMs + KILL_MS },
        );
        stopped.push(answer);
        if (options.json === true) return;
        const how = answer.forced ? 'killed' : 'stopped';
        context.print(
          `${how} ${session.name} (${describeStatus(answer.session)}, ${answer.processesEnded} processes)`,
        );
      });
      if (options.json === true) context.printJson(stopped);
    });
}
