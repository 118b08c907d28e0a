/** `roost login`: uses a hub from now on, as the user whose token is given. */
import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { readAll } from '../read-all.ts';
import { UsageError } from '../usage-error.ts';
import type { CommandContext } from '../command-context.ts';

interface LoginOptions {
  readonly tokenFile?: string;
}

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<url>', 'where the hub is: https://HOST:PORT, or http to this machine')
    .option('--token-file <file>', 'file that holds the token; otherwise it is read from standard input')
    .action(async (url: string, { tokenFile }: LoginOptions) => {
      const { hubRequest, splitPinned } = await import('@roost/client');
      const { stdin } = context.terminal;
      if (tokenFile === undefined && stdin.isTTY)
        context.note('paste the token (roost hub token create makes one), then Enter:');
      const given = tokenFile === undefined ? await firstLine(context) : readFileSync(tokenFile, 'utf8');
      const { secret: token, fingerprint } = splitPinned(given.trim());
      if (token === '') throw new UsageError('no token was given');
      const me = await hubRequest({ url, token, fingerprint }, 'me.show', {});
      const { writeLogin } = await import('../hub/login-file.ts');
      writeLogin(await context.home(), { url, token, fingerprint });
      context.print(`logged in at ${url} as ${me.user ?? 'its owner'} (${me.role})`);
    });
}

async function firstLine(context: CommandContext): Promise<string> {
  const { stdin } = context.terminal;
  if (!stdin.isTTY) return readAll(stdin);
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: stdin });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    lines.close();
  }
}
