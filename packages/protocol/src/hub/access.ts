/** Who may do what through a hub. */
import * as z from 'zod';
import { NodeId, WorkspaceId } from '../ids.ts';
import type { Access } from '../operation.ts';
import type { OperationName } from '../operations/index.ts';
import { OPERATIONS } from '../operations/index.ts';

/** In rising order: each may do what those before it may. */
export const HubRole = z.enum(['observer', 'operator', 'admin']);
export type HubRole = z.infer<typeof HubRole>;

/** Nodes, and perhaps only some workspaces of each, beyond which a principal sees and does nothing. */
export const HubScope = z.array(
  z.strictObject({
    nodeId: NodeId,
    /** null: the whole node. */
    workspaceIds: z.array(WorkspaceId).min(1).max(256).nullable().default(null),
  }),
);
export type HubScope = z.infer<typeof HubScope>;

export function includesRole(role: HubRole, needed: HubRole): boolean {
  return HubRole.options.indexOf(role) >= HubRole.options.indexOf(needed);
}

/** never: it makes sense on one connection of one machine only. */
export type HubReach = HubRole | 'never';

const ROLE_OF_ACCESS = {
  observer: 'observer',
  operator: 'operator',
  controller: 'operator',
} as const satisfies Record<Access, HubRole>;

/** What differs from the role that the access of an operation gives. */
const EXCEPTIONS: Partial<Record<OperationName, HubReach>> = {
  // A ticket is for a socket of that machine; `terminal.open` is the way from elsewhere.
  'session.attach': 'never',
  // Membership is decided at the node itself, and a hub's own connections are its own.
  'hub.join': 'never',
  'hub.leave': 'never',
  'hub.list': 'never',
  'hub.connect': 'never',
  'node.shutdown': 'admin',
};

/** The least role at a hub with which this operation of a node is done, or never. */
export function hubReach(name: OperationName): HubReach {
  return EXCEPTIONS[name] ?? ROLE_OF_ACCESS[OPERATIONS[name].access];
}
