/** `roost login`: uses a hub from now on, as the user whose token is given. */
import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { readSecret } from '../read-secret.ts';
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
      const given =
        tokenFile === undefined
          ? await readSecret(context, {
              ask: 'paste the token (roost hub token create makes one), then Enter; it is not shown',
              missing: 'no token was given',
            })
          : readFileSync(tokenFile, 'utf8').trim();
      const { secret: token, fingerprint } = splitPinned(given);
      if (token === '') throw new UsageError('no token was given');
      const me = await hubRequest({ url, token, fingerprint }, 'me.show', {});
      const { writeLogin } = await import('../hub/login-file.ts');
      writeLogin(await context.home(), { url, token, fingerprint });
      context.print(`logged in at ${url} as ${me.user ?? 'its owner'} (${me.role})`);
    });
}
