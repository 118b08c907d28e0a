/** What a person calls a workspace: a managed worktree by its branch, any other by its id. */
import { useQueries, useQuery } from '@tanstack/react-query';
import type { HubApi } from '@roost/client/browser';
import { LeaseId, type NodeId, type Result, type WorkspaceId } from '@roost/protocol';
import { useHub } from '../hub/hub-context.tsx';
import { nodeKey } from '../hub/queries.ts';

type Leases = Result<'worktree.leases'>;

/** Until it is known, and of one that is long gone, that is the id too. */
export function useWorkspaceName(nodeId: NodeId, workspaceId: WorkspaceId): string {
  const { api } = useHub();
  const isManaged = isManagedWorktree(workspaceId);
  const leases = useQuery({ ...leasesOf(api, nodeId, [workspaceId]), enabled: isManaged });
  return (isManaged ? branchOf(leases.data, workspaceId) : null) ?? workspaceId;
}

interface Place {
  readonly nodeId: NodeId;
  readonly workspaceId: WorkspaceId;
}

/** Most workspaces have no other name, and there are many on a page: nothing is asked for those. */
export function WorkspaceName(place: Place) {
  return isManagedWorktree(place.workspaceId) ? <BranchName {...place} /> : place.workspaceId;
}

function BranchName({ nodeId, workspaceId }: Place) {
  const name = useWorkspaceName(nodeId, workspaceId);
  return name === workspaceId ? name : <span title={workspaceId}>{name}</span>;
}

/** The same for many. */
export function useWorkspaceNames(
  workspaces: readonly { readonly nodeId: NodeId; readonly id: WorkspaceId }[],
): (nodeId: NodeId, workspaceId: WorkspaceId) => string {
  const { api } = useHub();
  const managed = new Map<NodeId, WorkspaceId[]>();
  for (const { nodeId, id } of workspaces)
    if (isManagedWorktree(id)) managed.set(nodeId, [...(managed.get(nodeId) ?? []), id]);
  const nodeIds = [...managed.keys()];
  const read = useQueries({
    queries: nodeIds.map((nodeId) => leasesOf(api, nodeId, managed.get(nodeId) ?? [])),
  });
  const leases = new Map(nodeIds.map((nodeId, index) => [nodeId, read[index]?.data]));
  return (nodeId, workspaceId) => branchOf(leases.get(nodeId), workspaceId) ?? workspaceId;
}

/** Its workspace has the id of its lease. */
function isManagedWorktree(workspaceId: WorkspaceId): boolean {
  return LeaseId.safeParse(workspaceId).success;
}

/** A lease never changes its branch: read again only when one is asked for that is not among them. */
function leasesOf(api: HubApi, nodeId: NodeId, asked: readonly WorkspaceId[]) {
  return {
    queryKey: nodeKey(nodeId, 'worktree.leases', { includeRemoved: true }),
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      api.node(nodeId, 'worktree.leases', { includeRemoved: true }, { signal }),
    staleTime: ({ state }: { state: { data?: Leases | undefined } }) =>
      asked.every((id) => branchOf(state.data, id) !== null) ? Infinity : 0,
  };
}

function branchOf(read: Leases | undefined, workspaceId: WorkspaceId): string | null {
  return read?.leases.find((lease) => lease.workspaceId === workspaceId)?.branch ?? null;
}
