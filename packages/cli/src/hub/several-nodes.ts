/** Whether a list is one of several nodes. */
import type { HubNode } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { isHubAway } from './hub-away.ts';

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
    const what = isOwn ? 'the hub of this machine does not answer' : `${hub.url} does not answer`;
    if (!isHubAway(error)) throw error;
    context.note(`${what}; this machine alone is listed`);
    return null;
  }
}
