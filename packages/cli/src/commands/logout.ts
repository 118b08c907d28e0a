/** `roost logout`: forgets the hub that one was logged in at. Its token goes on being good until it is revoked. */
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

export function define(command: Command, context: CommandContext): void {
  command.action(async () => {
    const { readLogin, removeLogin } = await import('../hub/login-file.ts');
    const home = await context.home();
    const login = readLogin(home);
    if (login === null) {
      context.print('not logged in');
      return;
    }
    removeLogin(home);
    context.print(`logged out of ${login.url}; the token itself ends with: roost hub token revoke ID`);
  });
}
