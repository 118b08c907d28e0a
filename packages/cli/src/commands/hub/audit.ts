/** `roost hub audit`: who changed what, from where, and with what outcome. */
import type { Command } from 'commander';
import { HUB_PAGE_MAX, type AuditEntry } from '@roost/protocol';
import type { CommandContext } from '../../command-context.ts';
import { readCount } from '../../operands.ts';
import { printable } from '../../printable.ts';

const LINES = '50';

export function defineAudit(command: Command, context: CommandContext): void {
  command
    .command('audit')
    .description('read the audit log, newest first')
    .option('-n, --lines <count>', 'how many lines', LINES)
    .option('--actor <name>', 'only of this one')
    .option('--node <node>', 'only about this node')
    .option('--operation <name>', 'only of this operation')
    .option('--json', 'print one JSON document')
    .action(
      async (options: {
        lines: string;
        actor?: string;
        node?: string;
        operation?: string;
        json?: boolean;
      }) => {
        const { hubRequest } = await import('@roost/client');
        const { actor, node, operation } = options;
        const { entries, hasMore } = await hubRequest(await context.requireHub(), 'audit.list', {
          limit: readCount(options.lines, HUB_PAGE_MAX),
          ...(actor === undefined ? {} : { actor }),
          ...(node === undefined ? {} : { node }),
          ...(operation === undefined ? {} : { operation }),
        });
        if (options.json === true) {
          context.printJson(entries);
          return;
        }
        for (const entry of entries) context.print(printable(describe(entry)));
        if (hasMore) context.note('there are more lines');
      },
    );
}

function describe({ at, actor, from, operation, nodeId, target, phase, outcome }: AuditEntry): string {
  const about = Object.entries(target).map(([name, value]) => `${name}=${value}`);
  const what = [operation, ...(nodeId === null ? [] : [nodeId]), ...about].join(' ');
  return `${at}  ${actor} (${from})  ${what}  ${phase === 'asked' ? 'asked' : (outcome ?? '')}`;
}
