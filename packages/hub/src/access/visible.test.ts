import { expect, it } from 'vitest';
import {
  FailureError,
  HubScope,
  NodeId,
  type HubEvent,
  type HubEventBody,
  type NodeEvent,
  type OperationName,
} from '@roost/protocol';
import { seesNodeEvent, visibleEvent, visibleResult } from './visible.ts';

const NODE = NodeId.parse('a'.repeat(16));
const principal = { scope: HubScope.parse([{ nodeId: NODE, workspaceIds: ['own'] }]) };
const own = { id: '1', workspaceId: 'own' };
const foreign = { id: '2', workspaceId: 'foreign' };

const see = (operation: OperationName, result: unknown): unknown =>
  visibleResult(principal, { nodeId: NODE, operation, result });

it('shows of a snapshot their workspaces with what is in them', () => {
  const snapshot = {
    nodeId: NODE,
    sequence: 5,
    workspaces: [{ id: 'own' }, { id: 'foreign' }],
    sessions: [own, foreign],
    records: [own, foreign],
    worktrees: [{ id: 'own' }, { id: 'foreign' }],
    progress: [{ session: own }, { session: foreign }],
    launchInventory: {
      spawnProfiles: [{ id: 'p' }],
      worktreeProfiles: [{ sourceWorkspace: 'own' }, { sourceWorkspace: 'foreign' }],
    },
  };
  expect(see('node.snapshot', snapshot)).toEqual({
    nodeId: NODE,
    sequence: 5,
    workspaces: [{ id: 'own' }],
    sessions: [own],
    records: [own],
    worktrees: [{ id: 'own' }],
    progress: [{ session: own }],
    launchInventory: { spawnProfiles: [{ id: 'p' }], worktreeProfiles: [{ sourceWorkspace: 'own' }] },
  });
  expect(visibleResult({ scope: null }, { nodeId: NODE, operation: 'node.snapshot', result: snapshot })).toBe(
    snapshot,
  );
});

it('shows of lists what is theirs', () => {
  expect(
    see('interaction.list', { interactions: [{ session: own }, { session: foreign }], truncated: false }),
  ).toEqual({ interactions: [{ session: own }], truncated: false });
  expect(see('worktree.leases', { leases: [{ id: 'own' }, { id: 'foreign' }] })).toEqual({
    leases: [{ id: 'own' }],
  });
  expect(
    see('worktree.profiles', { profiles: [{ sourceWorkspace: 'foreign' }], faults: [{ file: 'x' }] }),
  ).toEqual({ profiles: [], faults: [] });
  expect(see('history.list', { entries: [{ workspaceId: null }, own], revision: 'r' })).toEqual({
    entries: [own],
    revision: 'r',
  });
  expect(
    see('spawn.result', {
      state: 'failed',
      failure: { code: 'name-taken', message: '', details: { name: 'x' } },
    }),
  ).toMatchObject({ failure: { details: {} } });
});

it('refuses one thing that is not theirs', () => {
  for (const operation of ['session.resolve', 'record.resolve', 'history.resolve'] as const) {
    expect(see(operation, own)).toBe(own);
    expect(() => see(operation, foreign)).toThrow(FailureError);
  }
  for (const operation of ['history.preview', 'history.read'] as const)
    expect(() => see(operation, { entry: foreign })).toThrow(FailureError);
});

it('tells events of the node and of what is theirs', () => {
  const sees = (body: object) => seesNodeEvent(principal, NODE, body as NodeEvent['body']);
  const kinds: [object, boolean][] = [
    [{ kind: 'node-started' }, true],
    [{ kind: 'controller-changed' }, true],
    [{ kind: 'session-changed', session: own }, true],
    [{ kind: 'session-changed', session: foreign }, false],
    [{ kind: 'record-changed', record: foreign }, false],
    [{ kind: 'workspace-registered', workspace: { id: 'foreign' } }, false],
    [{ kind: 'workspace-unregistered', workspaceId: 'own' }, true],
    [{ kind: 'interaction-changed', interaction: { session: foreign } }, false],
    [{ kind: 'worktree-changed', lease: { id: 'foreign' } }, false],
    [{ kind: 'worktree-removed', leaseId: 'foreign' }, false],
    [{ kind: 'worktree-profiles-changed', profiles: [] }, false],
  ];
  for (const [body, isSeen] of kinds) expect({ body, isSeen: sees(body) }).toEqual({ body, isSeen });
  expect(seesNodeEvent({ scope: [] }, NODE, { kind: 'session-changed', session: own } as never)).toBe(false);
});

it('tells events of the hub likewise, and counts what is theirs', () => {
  const tell = (body: object, nodeId = NODE): HubEventBody | null => {
    const event = { id: 1, run: 'f'.repeat(16), nodeId, sequence: null, at: '', body } as unknown as HubEvent;
    return visibleEvent(principal, event, () => null)?.body ?? null;
  };
  expect(tell({ kind: 'session-removed', sessionId: '1', workspaceId: null })).toBeNull();
  expect(tell({ kind: 'record-removed', recordId: '1', workspaceId: 'own' })).not.toBeNull();
  expect(tell({ kind: 'node-resynced' })).not.toBeNull();
  expect(tell({ kind: 'node-resynced' }, NodeId.parse('b'.repeat(16)))).toBeNull();
  // Of a node that is enrolled no more, nothing is left to be counted.
  expect(tell({ kind: 'node-changed', node: { id: NODE, sessions: { live: 9, blocked: 9 } } })).toMatchObject(
    { node: { sessions: { live: 0, blocked: 0 } } },
  );
});
