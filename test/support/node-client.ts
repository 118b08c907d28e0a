/** The client library against the node of a test: many requests at the price of one process. */
import { connectNode, nodeSocketPath, type NodeConnection } from '@roost/client';
import type { Session } from '@roost/protocol';
import type { RoostHome } from './roost-home.ts';

export function connectTo(roost: RoostHome): Promise<NodeConnection> {
  return connectNode({
    socketPath: nodeSocketPath(roost.home),
    client: { name: 'test', version: '0' },
    timeoutMs: 15_000,
  });
}

export function spawnCommand(
  connection: NodeConnection,
  directory: string,
  command: string[],
  more: { name?: string; transport?: 'pty' | 'pipe' } = {},
): Promise<Session> {
  return connection.request('session.spawn', {
    directory,
    launch: { kind: 'command', command },
    ...more,
  });
}
