// What somebody may do at most: a role, on some of the nodes. Two bounds meet in what both allow.
import * as z from 'zod';
import { HubRole, HubScope, type NodeId, type WorkspaceId } from '@roost/protocol';

export interface Bounds {
  readonly role: HubRole;
  /** null: every node. */
  readonly scope: HubScope | null;
}

export const UNBOUNDED: Bounds = { role: 'admin', scope: null };

/** Both bounds at once. Who is bound to some nodes administers nothing: an admin could lift any bound. */
export function meet(one: Bounds, other: Bounds): Bounds {
  const scope = meetScopes(one.scope, other.scope);
  const role = lesserRole(one.role, other.role);
  return { role: scope !== null && role === 'admin' ? 'operator' : role, scope };
}

export function lesserRole(one: HubRole, other: HubRole): HubRole {
  return HubRole.options.indexOf(one) < HubRole.options.indexOf(other) ? one : other;
}

/** The workspaces of a node; null: all of them. */
type Reach = ReadonlySet<WorkspaceId> | null;

export function meetScopes(one: HubScope | null, other: HubScope | null): HubScope | null {
  if (one === null) return other;
  if (other === null) return one;
  const others = reaches(other);
  const both: HubScope = [];
  for (const [nodeId, reach] of reaches(one)) {
    const second = others.get(nodeId);
    if (second === undefined) continue;
    const workspaceIds = meetReaches(reach, second);
    if (workspaceIds === null) both.push({ nodeId, workspaceIds });
    else if (workspaceIds.size > 0) both.push({ nodeId, workspaceIds: [...workspaceIds] });
  }
  return both;
}

/** Whether everything within one scope is within the other as well. */
export function isWithin(one: HubScope | null, other: HubScope | null): boolean {
  if (other === null) return true;
  if (one === null) return false;
  const others = reaches(other);
  return [...reaches(one)].every(([nodeId, reach]) => {
    const wide = others.get(nodeId);
    if (wide === undefined || wide === null) return wide === null;
    return reach !== null && [...reach].every((id) => wide.has(id));
  });
}

function meetReaches(one: Reach, other: Reach): Reach {
  if (one === null) return other;
  if (other === null) return one;
  return new Set([...one].filter((id) => other.has(id)));
}

/** A node may be named more than once: it is reached as far as the entries together reach. */
function reaches(scope: HubScope): ReadonlyMap<NodeId, Reach> {
  const found = new Map<NodeId, Reach>();
  for (const { nodeId, workspaceIds } of scope) {
    const before = found.get(nodeId);
    const isWhole = workspaceIds === null || before === null;
    found.set(nodeId, isWhole ? null : new Set([...(before ?? []), ...workspaceIds]));
  }
  return found;
}

/** A scope as it is stored. */
export const StoredScope = z
  .string()
  .nullable()
  .transform((text): HubScope | null => (text === null ? null : HubScope.parse(JSON.parse(text))));

export function scopeText(scope: HubScope | null): string | null {
  return scope === null ? null : JSON.stringify(scope);
}
