/** `roost hub up|down|status|invite|login`. */
import type { Command } from 'commander';
import { NodeName } from '@roost/protocol';
import type { CommandContext } from '../../command-context.ts';
import { ensureHub, stopHub } from '../../hub/hub-process.ts';
import { loginLink } from '../../hub/login-link.ts';
import { describeAge, describeBytes } from '../../quantities.ts';
import { readSeconds } from '../../operands.ts';
import { UsageError } from '../../usage-error.ts';

const JSON_HELP = 'print one JSON document';
/** In the place of what a hub does not tell. */
const UNTOLD = '-';

export function defineService(command: Command, context: CommandContext): void {
  command
    .command('up')
    .description('start the hub of this machine, or find it')
    .option('--json', JSON_HELP)
    .action(async ({ json }: { json?: boolean }) => {
      const { target, isStarted } = await ensureHub(context);
      const { hubStatus } = await import('@roost/client');
      const { url = UNTOLD } = await hubStatus(target);
      const link = await loginLink(target);
      if (json === true) context.printJson({ started: isStarted, url, login: link.url });
      else {
        context.print(`hub ${isStarted ? 'started' : 'runs already'} at ${url}`);
        context.print(`log in once with ${link.url}`);
      }
    });

  command
    .command('down')
    .description('stop the hub of this machine; nodes and sessions go on')
    .action(async () => {
      context.print((await stopHub(context)) ? 'hub stopped; nodes and sessions go on' : 'no hub runs');
    });

  command
    .command('status', { isDefault: true })
    .description('what the hub is, and how its nodes are')
    .option('--json', JSON_HELP)
    .action(async ({ json }: { json?: boolean }) => {
      const { hubStatus } = await import('@roost/client');
      const status = await hubStatus(await context.requireHub());
      if (json === true) {
        context.printJson(status);
        return;
      }
      // A hub of another version may not tell all of it.
      const { hubId = UNTOLD, startedAt, residentBytes, version = UNTOLD, url = UNTOLD, clients } = status;
      const upFor = startedAt === undefined ? UNTOLD : describeAge(Date.now() - Date.parse(startedAt));
      const size = residentBytes === undefined ? UNTOLD : describeBytes(residentBytes);
      const { enrolled = UNTOLD, online = UNTOLD } = status.nodes ?? {};
      const { live = UNTOLD, blocked = UNTOLD } = status.sessions ?? {};
      const facts: readonly [string, string][] = [
        ['hub', `${hubId} (up ${upFor}, ${size})`],
        ['version', version],
        ['address', url],
        ['nodes', `${online} of ${enrolled} online`],
        ['sessions', `${live} live, ${blocked} wait for a person`],
        ['clients', String(clients ?? UNTOLD)],
      ];
      for (const [name, value] of facts) context.print(`${name.padEnd(12)}${value}`);
    });

  command
    .command('invite')
    .description('make an invitation, with which one node joins')
    .option('--name <node>', 'what the node will be called')
    .option('--for <seconds>', 'how long it is good for; 600 unless given')
    .option('--json', JSON_HELP)
    .action(async (options: { name?: string; for?: string; json?: boolean }) => {
      const { hubRequest } = await import('@roost/client');
      const nodeName = options.name === undefined ? null : NodeName.safeParse(options.name).data;
      if (nodeName === undefined) throw new UsageError('a node name is 1-64 of a-z 0-9 . _ -');
      const made = await hubRequest(await context.requireHub(), 'invites.create', {
        nodeName,
        ...(options.for === undefined ? {} : { expiresInMs: readSeconds(options.for) }),
      });
      if (options.json === true) context.printJson(made);
      else {
        context.print(`roost node join ${made.url}`);
        context.print(made.code);
        context.note(
          'run the first line on the machine that is to join, and paste the second when it asks; it works once',
        );
      }
    });

  command
    .command('login')
    .description('print a link that logs a browser in, once')
    .argument('[user]', 'who it is for; the first admin of the hub unless given')
    .option('--json', JSON_HELP)
    .action(async (user: string | undefined, { json }: { json?: boolean }) => {
      const link = await loginLink(await context.requireHub(), user);
      if (json === true) context.printJson(link);
      else context.print(link.url);
    });
}
