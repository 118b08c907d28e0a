/** `roost status`: what the node is and holds. */
import type { Command } from 'commander';
import { RecordState, type NodeSnapshot, type NodeStatus } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { describeController } from '../describe-controller.ts';
import { printable } from '../printable.ts';
import { describeAge, describeBytes } from '../quantities.ts';

export function define(command: Command, context: CommandContext): void {
  command.option('--json', 'print one JSON document').action(async (options: { json?: boolean }) => {
    const connection = await context.node();
    const [status, snapshot] = await Promise.all([
      connection.request('node.status', {}),
      connection.request('node.snapshot', {}),
    ]);
    if (options.json === true) {
      context.printJson({ ...status, snapshot });
      return;
    }
    for (const [name, value] of factsOf(status, snapshot)) {
      context.print(`${name.padEnd(12)}${printable(value)}`);
    }
  });
}

function factsOf(status: NodeStatus, snapshot: NodeSnapshot): [string, string][] {
  const upFor = describeAge(Date.now() - Date.parse(status.startedAt));
  const { controller, records, truncated } = snapshot;
  return [
    ['node', `${status.nodeId} (pid ${status.pid}, up ${upFor}, ${describeBytes(status.residentBytes)})`],
    ['version', `${status.version} on ${status.runtime}, ${status.platform}`],
    ...(status.machine === undefined ? [] : [machineFact(status.machine)]),
    ['home', status.home],
    ['socket', status.socket],
    ...status.listening.map((address): [string, string] => ['listening', address]),
    ['sessions', `${status.sessions.live} live, ${status.sessions.ended} ended`],
    ['records', `${describeRecords(records)}${truncated ? ', and more than one answer holds' : ''}`],
    ['workspaces', String(status.workspaces)],
    ['controller', controller === null ? 'nobody' : describeController(controller)],
    ['connections', describeConnections(status.connections)],
    ['last event', String(status.lastEventSequence)],
    ...status.keepers.map((keeper): [string, string] => [
      'keeper',
      `${keeper.id} (pid ${keeper.pid}, ${keeper.state}, ${keeper.sessions} sessions, ${describeBytes(keeper.residentBytes)}, version ${keeper.version})`,
    ]),
  ];
}

function machineFact({ loadAverage, processors }: NonNullable<NodeStatus['machine']>): [string, string] {
  return [
    'load',
    `${loadAverage.toFixed(2)} on ${processors} ${processors === 1 ? 'processor' : 'processors'}`,
  ];
}

function describeRecords(records: NodeSnapshot['records']): string {
  const counts = RecordState.options
    .map((state) => [state, records.filter((record) => record.state === state).length] as const)
    .filter(([, count]) => count > 0);
  return counts.length === 0 ? '0' : counts.map(([state, count]) => `${count} ${state}`).join(', ');
}

function describeConnections({ open, limit, unauthenticated, refused }: NodeStatus['connections']): string {
  const reasons = Object.entries(refused).filter(([, count]) => count > 0);
  return [
    `${open} of ${limit}`,
    ...(unauthenticated === 0 ? [] : [`${unauthenticated} not proved yet`]),
    ...(reasons.length === 0
      ? []
      : [`refused: ${reasons.map(([reason, count]) => `${count} ${reason}`).join(', ')}`]),
  ].join('; ');
}
