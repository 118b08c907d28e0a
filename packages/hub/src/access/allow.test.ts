// What the routes cannot show (`http/privileges.test.ts`): operations of relays, and what the fleet has not heard of yet.
import { expect, it } from 'vitest';
import { HubScope, NodeId, OPERATIONS, SessionId, WorkspaceId, type OperationName } from '@roost/protocol';
import { allow, type PlaceOf } from './allow.ts';

const NODE = NodeId.parse('a'.repeat(16));
const own = SessionId.parse('1'.repeat(16));
const foreign = SessionId.parse('2'.repeat(16));
const elsewhere = SessionId.parse('3'.repeat(16));
const unheard = SessionId.parse('4'.repeat(16));
const scope = HubScope.parse([{ nodeId: NODE, workspaceIds: ['own'] }]);

const placeOf: PlaceOf = (id) => {
  const place = (nodeId: NodeId, workspace: string) => ({
    nodeId,
    workspaceId: WorkspaceId.parse(workspace),
  });
  if (id === own) return place(NODE, 'own');
  if (id === foreign) return place(NODE, 'foreign');
  // Another node may call its workspace the same.
  return id === elsewhere ? place(NodeId.parse('b'.repeat(16)), 'own') : null;
};

function refusal(
  operation: OperationName,
  input: object,
  principal: Parameters<typeof allow>[0] = { role: 'operator', scope },
): string | null {
  const params = OPERATIONS[operation].params.parse(input);
  return allow(principal, { nodeId: NODE, operation, params }, placeOf)?.code ?? null;
}

it('lets watch what is theirs, all of it or nothing', () => {
  expect(refusal('screen.watch', { sessions: [own] })).toBeNull();
  expect(refusal('screen.watch', { sessions: [] })).toBeNull();
  for (const sessions of ['all', [own, foreign], [elsewhere], [unheard]])
    expect(refusal('screen.watch', { sessions })).toBe('out-of-scope');
  expect(refusal('screen.watch', { sessions: 'all' }, { role: 'observer', scope: null })).toBeNull();
});

it('lets open terminals that are theirs, also those of observers', () => {
  for (const mode of ['watch', 'drive']) {
    expect(refusal('terminal.open', { sessionId: own, mode }, { role: 'observer', scope })).toBeNull();
    for (const sessionId of [foreign, elsewhere, unheard])
      expect(refusal('terminal.open', { sessionId, mode })).toBe('out-of-scope');
  }
  expect(refusal('session.attach', { sessionId: own, mode: 'watch' }, { role: 'admin', scope: null })).toBe(
    'forbidden',
  );
});

it('believes an address of a session that nobody has heard of, for the node looks again', () => {
  const address = { workspaceId: 'own', generation: 1 };
  for (const sessionId of [own, unheard])
    expect(refusal('session.interrupt', { ...address, sessionId })).toBeNull();
  // As the node answers of one that is not there.
  for (const sessionId of [foreign, elsewhere])
    expect(refusal('session.interrupt', { ...address, sessionId })).toBe('unknown-session');
  expect(refusal('session.interrupt', { ...address, workspaceId: 'foreign', sessionId: own })).toBe(
    'out-of-scope',
  );
});

it('lets launch only into workspaces that are theirs already', () => {
  const spec = (target: object) => ({
    target: { nodeId: NODE, workspaceId: 'own', ...target },
    profileId: 'p',
    expectedRevision: '1',
    deadlineMs: 1_000,
    idempotencyKey: 'k',
  });
  expect(refusal('spawn.submit', spec({}))).toBeNull();
  expect(refusal('spawn.submit', spec({ worktreeId: 'own' }))).toBeNull();
  expect(refusal('spawn.submit', spec({ worktreeId: 'foreign' }))).toBe('out-of-scope');
  expect(refusal('spawn.submit', spec({ workspaceId: 'foreign' }))).toBe('out-of-scope');
  const worktree = { kind: 'new', profileId: 'p', expectedRevision: '1' };
  expect(refusal('worktree.spawn', { spec: spec({}), worktree })).toBe('out-of-scope');
});

it('answers in part what names nothing', () => {
  expect(refusal('interaction.list', {})).toBeNull();
  expect(refusal('history.list', { scope: { kind: 'unregistered' } })).toBeNull();
  expect(refusal('events.subscribe', { after: 0 })).toBeNull();
});

it('gives whoever has an empty scope nothing at all', () => {
  expect(refusal('controller.show', {}, { role: 'operator', scope: [] })).toBe('out-of-scope');
});
