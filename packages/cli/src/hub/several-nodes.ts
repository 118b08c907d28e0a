/** Whether a list is one of several nodes. */
import type { HubNode } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';

/** Those of the hub, when there are others than this machine's and none of them is named; null otherwise. */
export async function severalNodes(context: CommandContext): Promise<readonly HubNode[] | null> {
  if (context.isNodeNamed) return null;
  const hub = await context.hub();
  if (hub === null) return null;
  const { hubRequest } = await import('@roost/client');
  const isOwn = 'socketPath' in hub;
  try {
    const { nodes } = await hubRequest(hub, 'nodes.list', {});
    return isOwn && nodes.every(({ way }) => way === 'dialled') ? null : nodes;
  } catch (error) {
    if (!isOwn) throw error;
    // A hub that was ended hard: this machine alone is listed.
    return null;
  }
}
