/** `roost api`: any operation of the node, with JSON in and JSON out. */
import type { Command } from 'commander';
import { FailureError, OPERATIONS, isOperationName } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { readAll } from '../read-all.ts';
import { readSeconds } from '../operands.ts';
import { UsageError } from '../usage-error.ts';

/** Milliseconds; the longest operation without parameters of its own ends in less. */
const API_TIMEOUT = '120';

export function define(command: Command, context: CommandContext): void {
  command
    .argument('[operation]', 'its name; without one, all are listed')
    .argument('[params]', 'a JSON object; - reads it from standard input')
    .option('-t, --timeout <seconds>', 'how long to wait for the answer', API_TIMEOUT)
    .action(async (name: string | undefined, params: string | undefined, options: { timeout: string }) => {
      if (name === undefined) {
        for (const operation of Object.values(OPERATIONS)) {
          context.print(`${operation.name.padEnd(28)}${operation.summary}`);
        }
        return;
      }
      const timeoutMs = readSeconds(options.timeout);
      if (!isOperationName(name)) throw new FailureError('unknown-operation', { operation: name });
      if (name === 'events.subscribe') {
        throw new UsageError('events come without end; roost events --follow --json prints them');
      }
      const text = params === '-' ? await readAll(context.terminal.stdin) : (params ?? '{}');
      const parsed = OPERATIONS[name].params.safeParse(parseJson(text));
      if (!parsed.success) {
        const issues = parsed.error.issues.map(({ path, message }) =>
          path.length === 0 ? message : `${path.join('.')}: ${message}`,
        );
        throw new FailureError('invalid-request', { issues: issues.slice(0, 8) });
      }
      const connection = await context.node();
      // Its own schema has just read it.
      const result = await connection.request(name, parsed.data, { timeoutMs });
      context.printJson(result);
    });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`the parameters are no JSON: ${error instanceof Error ? error.message : ''}`);
  }
}
