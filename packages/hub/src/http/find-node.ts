// Nodes by name or id, as one principal knows them.
import { FailureError, type HubNode, type NodeId } from '@roost/protocol';
import { seesNode, type Principal } from '../access/principal.ts';
import type { Fleet, NodeView } from '../fleet/fleet.ts';

/**
 * Whoever may not see all nodes gets the same answer for one that they may not see and one that is not there.
 * @throws FailureError: unknown-node, ambiguous-node, out-of-scope.
 */
export function findNode(fleet: Fleet, selector: string, principal: Pick<Principal, 'scope'>): HubNode {
  if (principal.scope === null) return fleet.find(selector);
  const node = seen(fleet, selector);
  if (node === null || !seesNode(principal, node.id)) throw new FailureError('out-of-scope');
  return node;
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

function seen(fleet: Fleet, selector: string): HubNode | null {
  try {
    return fleet.find(selector);
  } catch (error) {
    if (error instanceof FailureError) return null;
    throw error;
  }
}
