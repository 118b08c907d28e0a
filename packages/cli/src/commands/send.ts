/** `roost send`: types or pastes a text into a session, as one unit. */
import type { Command } from 'commander';
import { addressOf } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { readAll } from '../read-all.ts';

/** Milliseconds for one text: a program that reads slowly is waited for. */
const SEND_TIMEOUT_MS = 120_000;

interface SendOptions {
  readonly enter?: boolean;
  readonly paste?: boolean;
}

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<session>', 'name, id, or unique beginning of an id')
    .argument('<text>', 'the text; - reads it from standard input')
    .option('--enter', 'press Enter afterwards')
    .option('--paste', 'paste it: newlines stay in the text, control characters lose their effect')
    .action(async (selector: string, text: string, options: SendOptions) => {
      const whole = text === '-' ? await readAll(context.terminal.stdin) : text;
      const session = await context.resolveSession(selector);
      const framing = options.paste === true ? 'paste' : session.transport === 'pipe' ? 'raw' : 'literal';
      await (
        await context.node()
      ).request(
        'session.input',
        { ...addressOf(session), text: whole, framing, submit: options.enter === true },
        { timeoutMs: SEND_TIMEOUT_MS },
      );
    });
}
