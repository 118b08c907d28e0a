// For tests: parameters of each operation of a node that name things of one workspace.
import type { OperationName } from '@roost/protocol';

export interface Names {
  readonly workspaceId: string;
  readonly sessionId: string;
  readonly recordId: string;
  readonly leaseId: string;
  readonly interactionId: string;
}

export function sampleParams(name: OperationName, names: Names): Record<string, unknown> {
  return SAMPLES[name](names);
}

type Samples = Readonly<Record<OperationName, (names: Names) => Record<string, unknown>>>;

const none = () => ({});
const workspace = ({ workspaceId }: Names) => ({ workspaceId });
const session = ({ sessionId }: Names) => ({ sessionId });
const record = ({ recordId }: Names) => ({ recordId });
const lease = ({ leaseId }: Names) => ({ leaseId });
const address = ({ workspaceId, sessionId }: Names) => ({ workspaceId, sessionId, generation: 1 });
const file = ({ workspaceId }: Names) => ({ workspaceId, path: 'a.txt' });
const providerSession = { key: 'session-id', id: 'x' };
const worktree = { profileId: 'p', expectedRevision: '1', idempotencyKey: 'k' };
const spec = ({ workspaceId }: Names) => ({
  target: { nodeId: 'a'.repeat(16), workspaceId },
  profileId: 'p',
  expectedRevision: '1',
  deadlineMs: 1_000,
  idempotencyKey: 'k',
});

const SAMPLES: Samples = {
  'node.status': none,
  'node.snapshot': none,
  'node.shutdown': none,
  'controller.show': none,
  'controller.acquire': none,
  'controller.release': none,
  'provider.list': none,
  'provider.check': () => ({ provider: 'codex' }),
  'profile.list': none,
  'workspace.register': () => ({ root: '/x' }),
  'workspace.list': none,
  'workspace.unregister': workspace,
  'workspace.readFile': file,
  'workspace.writeFile': (names) => ({ ...file(names), expectedRevision: '0'.repeat(64), text: '' }),
  'workspace.createFile': file,
  'workspace.createDirectory': file,
  'git.status': workspace,
  'git.history': workspace,
  'git.diff': (names) => ({ ...workspace(names), what: { kind: 'working' } }),
  'worktree.list': workspace,
  'worktree.create': ({ workspaceId }) => ({ sourceWorkspaceId: workspaceId, branch: 'b' }),
  'worktree.remove': ({ workspaceId }) => ({ sourceWorkspaceId: workspaceId, targetRoot: '/x' }),
  'workspace.createStandalone': () => ({ root: '/x' }),
  'workspace.inspect': workspace,
  'host.browseDirectories': none,
  'spawn.submit': spec,
  'spawn.result': () => ({ idempotencyKey: 'k' }),
  'worktree.profiles': none,
  'worktree.leases': none,
  'worktree.allocate': () => worktree,
  'worktree.spawn': (names) => ({ spec: spec(names), worktree: { kind: 'lease', leaseId: names.leaseId } }),
  'worktree.cleanup': lease,
  'worktree.evidence': lease,
  'worktree.resolve': (names) => ({ ...lease(names), choice: 'keep' }),
  'session.spawn': () => ({ directory: '/x', launch: { kind: 'command', command: ['true'] } }),
  'session.list': none,
  'session.resolve': ({ sessionId }) => ({ selector: sessionId }),
  'session.attach': (names) => ({ ...session(names), mode: 'watch' }),
  'session.readScreen': session,
  'session.readOutput': (names) => ({ ...session(names), stream: 'stdout', offset: -10 }),
  'session.followOutput': (names) => ({ ...session(names), stream: 'stdout', offset: 0 }),
  'session.unfollowOutput': (names) => ({ ...session(names), stream: 'stdout' }),
  'session.prompt': (names) => ({ ...address(names), text: 'x' }),
  'session.paste': (names) => ({ ...address(names), text: 'x' }),
  'session.input': (names) => ({ ...address(names), text: 'x', framing: 'raw' }),
  'session.sendBytes': (names) => ({ ...address(names), base64: 'eA==' }),
  'session.sendKey': (names) => ({ ...address(names), key: 'enter' }),
  'session.resize': (names) => ({ ...address(names), size: { columns: 80, rows: 24 } }),
  'session.acknowledge': address,
  'session.interrupt': address,
  'session.stop': address,
  'session.remove': address,
  'session.resume': address,
  'session.reportIdentity': (names) => ({ ...address(names), providerSession }),
  'session.wait': (names) => ({ ...session(names), waitMs: 0 }),
  'session.readTimeline': session,
  'session.choose': (names) => ({ ...address(names), choice: 'model', id: 'x' }),
  'interaction.list': session,
  'interaction.resolve': ({ interactionId }) => ({ interactionId, reply: { kind: 'allow' } }),
  'session.diff': session,
  'record.list': none,
  'record.resolve': ({ recordId }) => ({ selector: recordId }),
  'record.rename': (names) => ({ ...record(names), name: 'n' }),
  'record.setTask': (names) => ({ ...record(names), expectedRevision: 0, target: { kind: 'new' } }),
  'record.index': (names) => ({ ...workspace(names), provider: 'codex', providerSession, name: 'n' }),
  'record.resume': record,
  'record.forget': record,
  'history.list': ({ workspaceId }) => ({ scope: { kind: 'workspace', workspaceId } }),
  'history.resolve': () => ({ selector: 'abcd' }),
  'history.preview': () => ({ historyId: 'c'.repeat(16) }),
  'history.read': () => ({ historyId: 'c'.repeat(16) }),
  'history.adopt': () => ({ historyId: 'c'.repeat(16) }),
  'terminal.open': (names) => ({ ...session(names), mode: 'watch' }),
  'terminal.close': () => ({ channel: 1 }),
  'screen.watch': () => ({ sessions: 'all' }),
  'screen.unwatch': none,
  'events.read': none,
  'events.subscribe': () => ({ after: 0 }),
  'hub.join': () => ({ url: 'http://127.0.0.1', code: 'x' }),
  'hub.leave': () => ({ hubId: 'd'.repeat(16) }),
  'hub.list': none,
  'hub.connect': () => ({ hubId: 'd'.repeat(16), channel: 'e'.repeat(32) }),
};
