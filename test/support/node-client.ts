/** The client library against the node of a test: many requests at the price of one process. */
import { openNode, type NodeConnection } from '@roost/client';
import type { Session } from '@roost/protocol';

/** As commands do, it waits while the node is full or about to end. */
export async function connectTo(roost: { readonly home: string }): Promise<NodeConnection> {
  const { connection } = await openNode({
    home: roost.home,
    client: { name: 'test', version: '0' },
    start: null,
    timeoutMs: 15_000,
  });
  return connection;
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
