// What each operation of a node is about, for principals that reach only some of its workspaces. An operation is theirs when everything
// that it names lies in workspaces that they reach; what names nothing is either the same for everybody, or answered in part
// (`visible.ts`), or about the whole node and not theirs.
import type { InteractionId, OperationName, Params, RecordId, SessionId, WorkspaceId } from '@roost/protocol';

/** Something that lies in one workspace. */
export type Named =
  | { readonly kind: 'workspace'; readonly id: WorkspaceId }
  | { readonly kind: 'placed'; readonly id: SessionId | RecordId | InteractionId }
  /** The node refuses an address whose workspace is not that of the session: one that the hub has not heard of yet is no risk. */
  | { readonly kind: 'address'; readonly workspaceId: WorkspaceId; readonly sessionId: SessionId };

/**
 * node: the whole node, or more than its parameters can tell. anybody: nothing of any workspace. filtered: the answer holds only what
 * they reach. A list: all of it has to be theirs.
 */
export type Need = 'node' | 'anybody' | 'filtered' | readonly Named[];

type Needs = { readonly [Name in OperationName]: Need | ((params: Params<Name>) => Need) };

const workspace = (id: WorkspaceId): Named => ({ kind: 'workspace', id });
/** The workspace of a managed worktree has the same id. */
const lease = (id: string): Named => workspace(id as WorkspaceId);
const placed = (id: SessionId | RecordId | InteractionId): Named => ({ kind: 'placed', id });

const inWorkspace = ({ workspaceId }: { workspaceId: WorkspaceId }) => [workspace(workspaceId)];
const ofSession = ({ sessionId }: { sessionId: SessionId }) => [placed(sessionId)];
const ofRecord = ({ recordId }: { recordId: RecordId }) => [placed(recordId)];
const ofLease = ({ leaseId }: { leaseId: string }) => [lease(leaseId)];
const atAddress = (params: { workspaceId: WorkspaceId; sessionId: SessionId }): readonly Named[] => [
  { kind: 'address', workspaceId: params.workspaceId, sessionId: params.sessionId },
];

/** The directory of the launch, which may be a worktree that is a workspace of its own. */
function ofTarget({ workspaceId, worktreeId }: Params<'spawn.submit'>['target']): readonly Named[] {
  return worktreeId === null ? [workspace(workspaceId)] : [workspace(workspaceId), workspace(worktreeId)];
}

const NEEDS: Needs = {
  // It tells where things lie on the machine.
  'node.status': 'node',
  'node.snapshot': 'filtered',
  'node.shutdown': 'node',
  'controller.show': 'anybody',
  // It keeps everybody else from the whole node.
  'controller.acquire': 'node',
  'controller.release': 'anybody',
  'hub.join': 'node',
  'hub.leave': 'node',
  'hub.list': 'node',
  'hub.connect': 'node',
  'provider.list': 'anybody',
  'provider.check': 'node',
  'profile.list': 'anybody',
  // They make a workspace, or take one away that the parameters do not name.
  'workspace.register': 'node',
  'workspace.createStandalone': 'node',
  'worktree.create': 'node',
  'worktree.remove': 'node',
  'worktree.allocate': 'node',
  'workspace.list': 'filtered',
  'workspace.unregister': inWorkspace,
  'workspace.readFile': inWorkspace,
  'workspace.writeFile': inWorkspace,
  'workspace.createFile': inWorkspace,
  'workspace.createDirectory': inWorkspace,
  'workspace.inspect': inWorkspace,
  'git.status': inWorkspace,
  'git.history': inWorkspace,
  'git.diff': inWorkspace,
  'worktree.list': inWorkspace,
  'host.browseDirectories': 'node',
  'spawn.submit': ({ target }) => ofTarget(target),
  'spawn.result': 'filtered',
  'worktree.profiles': 'filtered',
  'worktree.leases': 'filtered',
  // A new one is a workspace that nobody's scope names yet.
  'worktree.spawn': ({ spec, worktree }) =>
    worktree.kind === 'lease' ? [...ofTarget(spec.target), lease(worktree.leaseId)] : 'node',
  'worktree.cleanup': ofLease,
  'worktree.evidence': ofLease,
  'worktree.resolve': ofLease,
  // It names a directory, and only the node knows whose that is; `spawn.submit` names a workspace.
  'session.spawn': 'node',
  'session.list': 'filtered',
  'session.resolve': 'filtered',
  'session.attach': 'node',
  'session.readScreen': ofSession,
  'session.readOutput': ofSession,
  'session.followOutput': ofSession,
  'session.unfollowOutput': ofSession,
  'session.prompt': atAddress,
  'session.paste': atAddress,
  'session.input': atAddress,
  'session.sendBytes': atAddress,
  'session.sendKey': atAddress,
  'session.resize': atAddress,
  'session.acknowledge': atAddress,
  'session.interrupt': atAddress,
  'session.stop': atAddress,
  'session.remove': atAddress,
  'session.resume': atAddress,
  // It can move the session to another record.
  'session.reportIdentity': 'node',
  'session.wait': ofSession,
  'session.readTimeline': ofSession,
  'session.choose': atAddress,
  'session.diff': ofSession,
  'interaction.list': ({ sessionId }) => (sessionId === undefined ? 'filtered' : [placed(sessionId)]),
  'interaction.resolve': ({ interactionId }) => [placed(interactionId)],
  'record.list': 'filtered',
  'record.resolve': 'filtered',
  'record.rename': ofRecord,
  'record.setTask': ofRecord,
  'record.index': inWorkspace,
  'record.resume': ofRecord,
  'record.forget': ofRecord,
  'history.list': ({ scope }) => (scope.kind === 'workspace' ? [workspace(scope.workspaceId)] : 'filtered'),
  'history.resolve': 'filtered',
  'history.preview': 'filtered',
  'history.read': 'filtered',
  // It changes something before the answer tells of which workspace.
  'history.adopt': 'node',
  'screen.watch': ({ sessions }) => (sessions === 'all' ? 'node' : sessions.map(placed)),
  'screen.unwatch': 'anybody',
  'terminal.open': ofSession,
  'terminal.close': 'anybody',
  'events.read': 'filtered',
  'events.subscribe': 'filtered',
};

export function needOf<Name extends OperationName>(operation: Name, params: Params<Name>): Need {
  const need: Need | ((params: Params<Name>) => Need) = NEEDS[operation];
  return typeof need === 'function' ? need(params) : need;
}
