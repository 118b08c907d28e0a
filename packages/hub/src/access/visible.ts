// What of an answer, or of the events, somebody sees who reaches only some workspaces of a node. Whatever is not named here was decided
// before it was asked (`needs.ts`).
import {
  FailureError,
  type HubEvent,
  type HubEventBody,
  type HubNode,
  type NodeEvent,
  type NodeId,
  type OperationName,
  type Result,
  type WorkspaceId,
} from '@roost/protocol';
import type { NodeView } from '../fleet/fleet.ts';
import { seesNode, workspacesOf, type Principal } from './principal.ts';

/** Whether one of the workspaces is theirs. */
type Reaches = (workspaceId: WorkspaceId | null) => boolean;
type Filters = {
  readonly [Name in OperationName]?: (result: Result<Name>, reaches: Reaches) => Result<Name>;
};

const FILTERS: Filters = {
  'node.snapshot': (snapshot, reaches) => ({
    ...snapshot,
    workspaces: snapshot.workspaces.filter(({ id }) => reaches(id)),
    sessions: snapshot.sessions.filter(({ workspaceId }) => reaches(workspaceId)),
    records: snapshot.records.filter(({ workspaceId }) => reaches(workspaceId)),
    worktrees: snapshot.worktrees?.filter((lease) => reachesLease(lease, reaches)),
    progress: snapshot.progress?.filter(({ session }) => reaches(session.workspaceId)),
    launchInventory: {
      ...snapshot.launchInventory,
      worktreeProfiles: snapshot.launchInventory.worktreeProfiles?.filter((one) =>
        reaches(one.sourceWorkspace),
      ),
    },
  }),
  'workspace.list': ({ workspaces }, reaches) => ({ workspaces: workspaces.filter(({ id }) => reaches(id)) }),
  'session.list': ({ sessions, truncated }, reaches) => ({
    sessions: sessions.filter(({ workspaceId }) => reaches(workspaceId)),
    truncated,
  }),
  'session.resolve': only(({ workspaceId }) => workspaceId),
  'record.list': ({ records, truncated }, reaches) => ({
    records: records.filter(({ workspaceId }) => reaches(workspaceId)),
    truncated,
  }),
  'record.resolve': only(({ workspaceId }) => workspaceId),
  'interaction.list': ({ interactions, truncated }, reaches) => ({
    interactions: interactions.filter(({ session }) => reaches(session.workspaceId)),
    truncated,
  }),
  'worktree.leases': ({ leases }, reaches) => ({
    leases: leases.filter((lease) => reachesLease(lease, reaches)),
  }),
  'worktree.profiles': ({ profiles }, reaches) => ({
    profiles: profiles.filter(({ sourceWorkspace }) => reaches(sourceWorkspace)),
    faults: [],
  }),
  'spawn.result': (launch, reaches) => {
    if (launch.state === 'accepted' && !reaches(launch.receipt.session.workspaceId))
      return { state: 'unknown' };
    // Of a failed one nobody knows where it was to be.
    return launch.state === 'failed'
      ? { state: 'failed', failure: { ...launch.failure, details: {} } }
      : launch;
  },
  'history.list': (page, reaches) => ({
    ...page,
    entries: page.entries.filter(({ workspaceId }) => reaches(workspaceId)),
  }),
  'history.resolve': only(({ workspaceId }) => workspaceId),
  'history.preview': only(({ entry }) => entry.workspaceId),
  'history.read': only(({ entry }) => entry.workspaceId),
  'events.read': ({ events, ...place }, reaches) => ({
    ...place,
    events: events.filter(({ body }) => reachesNodeEvent(body, reaches)),
  }),
};

/** @throws FailureError: out-of-scope, when the answer is one thing and not theirs. */
export function visibleResult(
  principal: Pick<Principal, 'scope'>,
  { nodeId, operation, result }: { nodeId: NodeId; operation: OperationName; result: unknown },
): unknown {
  const filter = FILTERS[operation] as ((result: unknown, reaches: Reaches) => unknown) | undefined;
  const workspaces = workspacesOf(principal, nodeId);
  if (workspaces === null || filter === undefined) return result;
  return filter(result, reachesOf(workspaces));
}

/** Whether they see an event of a node, as the node itself tells it. */
export function seesNodeEvent(
  principal: Pick<Principal, 'scope'>,
  nodeId: NodeId,
  body: NodeEvent['body'],
): boolean {
  const workspaces = workspacesOf(principal, nodeId);
  return workspaces === null || reachesNodeEvent(body, reachesOf(workspaces));
}

/** The event as they see it; null: not at all. */
export function visibleEvent(
  principal: Pick<Principal, 'scope'>,
  event: HubEvent,
  viewOf: (nodeId: NodeId) => NodeView | null,
): HubEvent | null {
  if (!seesNode(principal, event.nodeId)) return null;
  const workspaces = workspacesOf(principal, event.nodeId);
  if (workspaces === null) return event;
  const { body } = event;
  if (body.kind === 'node-changed') {
    const node = visibleNode(principal, body.node, viewOf);
    return { ...event, body: { kind: 'node-changed', node } };
  }
  return reachesHubEvent(body, reachesOf(workspaces)) ? event : null;
}

/** With what is counted of it counted among the workspaces that they reach. */
export function visibleNode(
  principal: Pick<Principal, 'scope'>,
  node: HubNode,
  viewOf: (nodeId: NodeId) => NodeView | null,
): HubNode {
  const workspaces = workspacesOf(principal, node.id);
  if (workspaces === null) return node;
  let live = 0;
  let blocked = 0;
  for (const session of viewOf(node.id)?.sessions.values() ?? []) {
    if (session.endedAt !== null || !workspaces.has(session.workspaceId)) continue;
    live += 1;
    if (session.activity?.state === 'blocked') blocked += 1;
  }
  return { ...node, sessions: { live, blocked } };
}

const reachesOf =
  (workspaces: ReadonlySet<WorkspaceId>): Reaches =>
  (workspaceId) =>
    workspaceId !== null && workspaces.has(workspaceId);

function only<Value>(workspaceOf: (value: Value) => WorkspaceId | null) {
  return (value: Value, reaches: Reaches): Value => {
    if (!reaches(workspaceOf(value))) throw new FailureError('out-of-scope');
    return value;
  };
}

/** The workspace of a managed worktree has the same id. */
function reachesLease({ id }: { id: string }, reaches: Reaches): boolean {
  return reaches(id as WorkspaceId);
}

function reachesNodeEvent(body: NodeEvent['body'], reaches: Reaches): boolean {
  switch (body.kind) {
    case 'node-started':
    case 'node-stopped':
    case 'controller-changed':
    case 'spawn-profiles-changed':
      return true;
    // Ids alone, of what their views may hold.
    case 'session-removed':
    case 'record-removed':
      return true;
    case 'workspace-registered':
    case 'workspace-changed':
      return reaches(body.workspace.id);
    case 'workspace-unregistered':
      return reaches(body.workspaceId);
    case 'session-changed':
      return reaches(body.session.workspaceId);
    case 'record-changed':
      return reaches(body.record.workspaceId);
    case 'interaction-changed':
      return reaches(body.interaction.session.workspaceId);
    case 'worktree-changed':
      return reachesLease(body.lease, reaches);
    case 'worktree-removed':
      return reaches(body.leaseId as string as WorkspaceId);
    // They name profiles of every workspace; `worktree.profiles` tells theirs.
    case 'worktree-profiles-changed':
      return false;
  }
}

function reachesHubEvent(body: HubEventBody, reaches: Reaches): boolean {
  switch (body.kind) {
    case 'node-started':
    case 'node-stopped':
    case 'node-changed':
    case 'node-removed':
    case 'node-resynced':
      return true;
    case 'workspace-changed':
      return reaches(body.workspace.id);
    case 'workspace-removed':
    case 'session-removed':
    case 'record-removed':
    case 'watchers-changed':
      return reaches(body.workspaceId);
    case 'session-changed':
      return reaches(body.session.workspaceId);
    case 'record-changed':
      return reaches(body.record.workspaceId);
    case 'interaction-changed':
      return reaches(body.interaction.session.workspaceId);
  }
}
