/** `roost status`: what the node is and holds. */
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { describeAge, describeBytes } from '../quantities.ts';

export function define(command: Command, context: CommandContext): void {
  command.option('--json', 'print one JSON document').action(async (options: { json?: boolean }) => {
    const status = await (await context.node()).request('node.status', {});
    if (options.json === true) {
      context.printJson(status);
      return;
    }
    const upFor = describeAge(Date.now() - Date.parse(status.startedAt));
    const facts: [string, string][] = [
      ['node', `${status.nodeId} (pid ${status.pid}, up ${upFor}, ${describeBytes(status.residentBytes)})`],
      ['version', `${status.version} on ${status.runtime}, ${status.platform}`],
      ['home', status.home],
      ['socket', status.socket],
      ['sessions', `${status.sessions.live} live, ${status.sessions.ended} ended`],
      ['workspaces', String(status.workspaces)],
      ['connections', String(status.connections)],
      ['last event', String(status.lastEventSequence)],
      ...status.keepers.map((keeper): [string, string] => [
        'keeper',
        `${keeper.id} (pid ${keeper.pid}, ${keeper.state}, ${keeper.sessions} sessions, ${describeBytes(keeper.residentBytes)}, version ${keeper.version})`,
      ]),
    ];
    for (const [name, value] of facts) context.print(`${name.padEnd(12)}${value}`);
  });
}
