/** `roost prompt`: gives an agent a prompt, whole and once, and says how far it is known to have come. */
import { Option, type Command } from 'commander';
import { addressOf, PROMPT_WAIT_MS_MAX, PromptDelivery } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { readSeconds } from '../operands.ts';
import { readAll } from '../read-all.ts';

/** Milliseconds for the text to go in, beyond what is waited for. */
const WRITE_MS = 60_000;

/** Place in the order of what is known. */
const comes = (delivery: PromptDelivery): number => PromptDelivery.options.indexOf(delivery);

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
    .option('-t, --timeout <seconds>', 'how long to wait for that (exit code 1)', '120')
    .option('--json', 'print one JSON document')
    .action(async (selector: string, text: string, options: PromptOptions) => {
      const waitMs = readSeconds(options.timeout);
      const whole = text === '-' ? await readAll(context.terminal.stdin) : text;
      const session = await context.resolveSession(selector);
      const answer = await (
        await context.node()
      ).request(
        'session.prompt',
        {
          ...addressOf(session),
          text: whole,
          until: options.until,
          waitMs: Math.min(waitMs, PROMPT_WAIT_MS_MAX),
        },
        { timeoutMs: waitMs + WRITE_MS },
      );
      const isFarEnough = comes(answer.delivery) >= comes(options.until);
      if (options.json === true) context.printJson(answer);
      else if (isFarEnough) context.print(answer.delivery);
      else context.print(`${answer.delivery}; not known to be ${options.until} in time`);
      if (!isFarEnough) context.exitCode = 1;
    });
}
