/** `roost controller`: the exclusive right to change the node. Without a holder every operator may change it. */
import type { Command } from 'commander';
import { LEASE_MS_MIN } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { describeController } from '../describe-controller.ts';
import { interruption } from '../interruption.ts';
import { readSeconds } from '../operands.ts';
import { printable } from '../printable.ts';
import { UsageError } from '../usage-error.ts';

/** Milliseconds; longer ones are without end. */
const HOLD_MS_MAX = 24 * 60 * 60 * 1000;
const JSON_HELP = 'print one JSON document';

export function define(command: Command, context: CommandContext): void {
  command
    .command('show', { isDefault: true })
    .description('who holds the lease')
    .option('--json', JSON_HELP)
    .action(async (options: { json?: boolean }) => {
      const { controller } = await (await context.node()).request('controller.show', {});
      if (options.json === true) context.printJson({ controller });
      else
        context.print(
          controller === null
            ? 'nobody; every operator may change things'
            : printable(describeController(controller)),
        );
    });

  command
    .command('hold')
    .description('be the only one who may change things, until Ctrl-C')
    .option('--for <seconds>', 'give the lease back after so long')
    .option('--take-over', 'take it from whoever holds it')
    .option('--json', 'print who holds it, once, as one JSON document')
    .action(async (options: { for?: string; takeOver?: boolean; json?: boolean }) => {
      const forMs = options.for === undefined ? undefined : readSeconds(options.for);
      if (forMs !== undefined && forMs > HOLD_MS_MAX) {
        throw new UsageError(`--for is at most ${HOLD_MS_MAX / 1000} seconds; without it there is no end`);
      }
      const { holdController } = await import('../hold-controller.ts');
      using stop = interruption();
      const signal =
        forMs === undefined ? stop.signal : AbortSignal.any([stop.signal, AbortSignal.timeout(forMs)]);
      await holdController(await context.node(), {
        takeOver: options.takeOver === true,
        signal,
        onHeld: (controller) => {
          if (options.json === true) context.printJson({ controller });
          else context.print(`connection ${controller.connectionId} holds the lease; Ctrl-C gives it back`);
        },
      });
    });

  command
    .command('break')
    .description('end the lease of whoever holds it; nobody holds it then')
    .option('--json', 'print who held it as one JSON document')
    .action(async (options: { json?: boolean }) => {
      const connection = await context.node();
      const { controller } = await connection.request('controller.show', {});
      if (controller !== null) {
        await connection.request('controller.acquire', { takeOver: true, leaseMs: LEASE_MS_MIN });
        await connection.request('controller.release', {});
      }
      if (options.json === true) context.printJson({ broken: controller });
      else
        context.print(
          controller === null
            ? 'nobody holds it'
            : `took it from ${printable(describeController(controller))}`,
        );
    });
}
