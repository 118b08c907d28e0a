// Whether somebody may ask an operation of a node: role, then node, then what it names. Decides from data alone; HTTP routes and relays
// share it.
import {
  failure,
  hubReach,
  includesRole,
  type Failure,
  type InteractionId,
  type NodeId,
  type OperationName,
  type Params,
  type RecordId,
  type SessionId,
  type WorkspaceId,
} from '@roost/protocol';
import { needOf, type Named } from './needs.ts';
import { seesNode, workspacesOf, type Principal } from './principal.ts';

/** Where a session, record or interaction is; null when no node tells of it. */
export type PlaceOf = (
  id: SessionId | RecordId | InteractionId,
) => { readonly nodeId: NodeId; readonly workspaceId: WorkspaceId } | null;

export interface Asked {
  readonly nodeId: NodeId;
  readonly operation: OperationName;
  /** As the operation's schema gave them. */
  readonly params: unknown;
}

/** null: it may be asked. */
export function allow(
  principal: Pick<Principal, 'role' | 'scope'>,
  { nodeId, operation, params }: Asked,
  placeOf: PlaceOf,
): Failure | null {
  const needed = hubReach(operation);
  if (needed === 'never') return failure('forbidden', { operation });
  if (!includesRole(principal.role, needed)) return failure('forbidden', { role: principal.role, needed });
  if (!seesNode(principal, nodeId)) return failure('out-of-scope');
  const workspaces = workspacesOf(principal, nodeId);
  if (workspaces === null) return null;
  const need = needOf(operation, params as Params<OperationName>);
  if (need === 'node') return failure('out-of-scope', { operation });
  if (need === 'anybody' || need === 'filtered') return null;
  const isReached = (workspaceId: WorkspaceId) => workspaces.has(workspaceId);
  if (!need.every((named) => isTheirs(named, nodeId, isReached, placeOf))) return failure('out-of-scope');
  for (const named of need)
    if (named.kind === 'address' && !agrees(named, nodeId, placeOf))
      return failure('unknown-session', { sessionId: named.sessionId });
  return null;
}

/** What no node tells of counts as not theirs: nobody learns that way which ids there are. */
function isTheirs(
  named: Named,
  nodeId: NodeId,
  isReached: (workspaceId: WorkspaceId) => boolean,
  placeOf: PlaceOf,
): boolean {
  if (named.kind === 'workspace') return isReached(named.id);
  if (named.kind === 'address') return isReached(named.workspaceId);
  const place = placeOf(named.id);
  return place?.nodeId === nodeId && isReached(place.workspaceId);
}

/** An address of a session that is elsewhere is answered as the node answers one of a session that is not there. */
function agrees(
  { workspaceId, sessionId }: Extract<Named, { kind: 'address' }>,
  nodeId: NodeId,
  placeOf: PlaceOf,
): boolean {
  const place = placeOf(sessionId);
  return place === null || (place.nodeId === nodeId && place.workspaceId === workspaceId);
}
