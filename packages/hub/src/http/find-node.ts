// Nodes by name or id, as one principal knows them.
import { FailureError, type HubNode, type NodeId } from '@roost/protocol';
import { seesNode, type Principal } from '../access/principal.ts';
import type { Fleet, NodeView } from '../fleet/fleet.ts';
import { pickNode } from '../fleet/pick-node.ts';

/**
 * Whoever may not see all nodes looks among their own: one that they may not see is as one that is not there.
 * @throws FailureError: unknown-node, ambiguous-node, out-of-scope.
 */
export function findNode(fleet: Fleet, selector: string, principal: Pick<Principal, 'scope'>): HubNode {
  if (principal.scope === null) return fleet.find(selector);
  const own = fleet.nodes().filter(({ id }) => seesNode(principal, id));
  const found = pickNode(own, selector);
  if (found === null) throw new FailureError('out-of-scope');
  return found;
}

/** null: it is enrolled no more, which events of before do not know. */
export function viewOrNull(fleet: Fleet, nodeId: NodeId): NodeView | null {
  try {
    return fleet.view(nodeId);
  } catch (error) {
    if (error instanceof FailureError) return null;
    throw error;
  }
}
