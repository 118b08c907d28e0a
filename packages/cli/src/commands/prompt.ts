/** `roost prompt`: gives an agent a prompt, whole and once, and says how far it is known to have come. */
import { Option, type Command } from 'commander';
import { addressOf, PromptDelivery } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { readSeconds } from '../operands.ts';
import { readAll } from '../read-all.ts';

interface PromptOptions {
  readonly until: PromptDelivery;
  readonly timeout: string;
  readonly json?: boolean;
}

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<session>', 'name, id, or unique beginning of an id')
    .argument('<text>', 'the prompt; - reads it from standard input')
    .addOption(
      new Option('--until <state>', 'how far it has to come')
        .choices(PromptDelivery.options)
        .default('written'),
    )
    .option('-t, --timeout <seconds>', 'how long to wait for that', '120')
    .option('--json', 'print one JSON document')
    .action(async (selector: string, text: string, options: PromptOptions) => {
      const timeoutMs = readSeconds(options.timeout);
      const whole = text === '-' ? await readAll(context.terminal.stdin) : text;
      const session = await context.resolveSession(selector);
      const answer = await (
        await context.node()
      ).request(
        'session.prompt',
        { ...addressOf(session), text: whole, until: options.until },
        { timeoutMs },
      );
      if (options.json === true) context.printJson(answer);
      else context.print(answer.delivery);
    });
}
