// Who asks something of the hub, and what they may reach.
import {
  FailureError,
  includesRole,
  type HubRole,
  type HubScope,
  type NodeId,
  type TokenId,
  type UserName,
  type WorkspaceId,
} from '@roost/protocol';

export interface Principal {
  /** local: the owner of the hub's directory, over its socket. */
  readonly kind: 'local' | 'user';
  readonly user: UserName | null;
  readonly role: HubRole;
  /** null: every node. */
  readonly scope: HubScope | null;
  readonly credential: Credential;
  /** Milliseconds since the epoch; null: it does not end. */
  readonly expiresAt: number | null;
}

/** What it came with, without any secret. */
export type Credential =
  | { readonly kind: 'socket' }
  | { readonly kind: 'token'; readonly id: TokenId }
  /** `id`: of the browser session, 16 hexadecimal digits. */
  | { readonly kind: 'cookie'; readonly id: string };

/** @throws FailureError: forbidden. */
export function requireRole(principal: Principal, needed: HubRole): void {
  if (!includesRole(principal.role, needed))
    throw new FailureError('forbidden', { role: principal.role, needed });
}

export function seesNode({ scope }: Pick<Principal, 'scope'>, nodeId: NodeId): boolean {
  return scope === null || scope.some((one) => one.nodeId === nodeId);
}

/** null: all of them; else the workspaces of the node that the principal reaches. */
export function workspacesOf(
  { scope }: Pick<Principal, 'scope'>,
  nodeId: NodeId,
): ReadonlySet<WorkspaceId> | null {
  if (scope === null) return null;
  const parts = scope.filter((one) => one.nodeId === nodeId);
  if (parts.some(({ workspaceIds }) => workspaceIds === null)) return null;
  return new Set(parts.flatMap(({ workspaceIds }) => workspaceIds ?? []));
}
