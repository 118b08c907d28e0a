/** `roost send`: types or pastes a text into a session, as one unit, or presses keys that have a name. */
import type { Command } from 'commander';
import { addressOf, TerminalKey } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { readAll } from '../read-all.ts';
import { UsageError } from '../usage-error.ts';

/** Milliseconds for one text: a program that reads slowly is waited for. */
const SEND_TIMEOUT_MS = 120_000;

interface SendOptions {
  readonly enter?: boolean;
  readonly paste?: boolean;
  readonly key?: string[];
}

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<session>', 'name, id, or unique beginning of an id')
    .argument('[text]', 'the text; - reads it from standard input')
    .option('--enter', 'press Enter afterwards')
    .option('--paste', 'paste it: newlines stay in the text, control characters lose their effect')
    .option(
      '--key <name>',
      'press a key instead, such as enter, escape, up, page-down, interrupt, f1; again for more',
      (name: string, before: string[] | undefined) => [...(before ?? []), name],
    )
    .action(async (selector: string, text: string | undefined, options: SendOptions) => {
      if (options.key !== undefined) {
        if (text !== undefined || options.enter === true || options.paste === true) {
          throw new UsageError('send a text, or press keys');
        }
        await pressKeys(context, selector, options.key.map(readKey));
        return;
      }
      if (text === undefined) throw new UsageError('name a text, or a key with --key');
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

/** One after the other: the next is pressed when the program's terminal has the one before. */
async function pressKeys(
  context: CommandContext,
  selector: string,
  keys: readonly TerminalKey[],
): Promise<void> {
  const address = addressOf(await context.resolveSession(selector));
  const connection = await context.node();
  for (const key of keys) await connection.request('session.sendKey', { ...address, key });
}

function readKey(name: string): TerminalKey {
  const parsed = TerminalKey.safeParse(name);
  if (parsed.success) return parsed.data;
  throw new UsageError(`'${name}' is no key; those are ${TerminalKey.options.join(', ')}`);
}
