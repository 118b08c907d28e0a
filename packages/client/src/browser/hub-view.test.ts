import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  HubEvent,
  HubNode,
  HubSession,
  type HubEventBody,
  type NodeId,
  type SessionId,
} from '@roost/protocol';
import { foldHubEvents, replaceNode, viewOf, type HubView } from './hub-view.ts';

const MILL = 'aaaaaaaaaaaaaaaa' as NodeId;
const FORGE = 'bbbbbbbbbbbbbbbb' as NodeId;
const AT = '2026-01-01T00:00:00Z';
const EMPTY = viewOf({ nodes: [], sessions: [], records: [], workspaces: [] });

const node = (id: NodeId): HubNode =>
  HubNode.parse({
    id,
    name: id === MILL ? 'mill' : 'forge',
    way: 'dialled',
    link: { state: 'online', since: AT, reason: null, attempts: 0 },
    incarnation: null,
    version: null,
    sequence: 0,
    seenAt: null,
    sessions: { live: 0, blocked: 0 },
    enrolledAt: AT,
  });
const session = (digit: string, name: string): HubSession =>
  HubSession.parse({
    id: digit.repeat(16),
    recordId: null,
    generation: 1,
    name,
    provider: 'claude',
    transport: 'pty',
    status: 'running',
    workspaceId: 'shop',
    size: null,
    createdAt: AT,
    endedAt: null,
    exitCode: null,
    exitSignal: null,
    endReason: null,
    attachedClients: 0,
  });
let count = 0;
const event = (nodeId: NodeId, body: HubEventBody): HubEvent =>
  HubEvent.parse({ id: ++count, run: '0'.repeat(16), nodeId, sequence: null, at: AT, body });
const changed = (nodeId: NodeId, one: HubSession): HubEvent =>
  event(nodeId, { kind: 'session-changed', session: one });
const names = (view: HubView): string[] => [...view.sessions.values()].map(({ name }) => name).toSorted();

test('an event carries the state after it: applied twice, it changes nothing more', () => {
  const once = foldHubEvents(EMPTY, [changed(MILL, session('1', 'builder'))]);
  const twice = foldHubEvents(once, [changed(MILL, session('1', 'builder'))]);
  expect(twice.sessions).toEqual(once.sessions);
  expect(once.sessions.get('1'.repeat(16) as SessionId)?.nodeId).toBe(MILL);
});

test('a view is never changed, and what nobody touched is shared', () => {
  const before = foldHubEvents(EMPTY, [changed(MILL, session('1', 'builder'))]);
  const after = foldHubEvents(before, [
    event(MILL, { kind: 'session-removed', sessionId: '1'.repeat(16) as SessionId, workspaceId: null }),
  ]);
  expect(names(before)).toEqual(['builder']);
  expect(names(after)).toEqual([]);
  expect(after.records).toBe(before.records);
  expect(foldHubEvents(after, [event(MILL, { kind: 'node-stopped' })])).toBe(after);
});

test('a node that is removed, or read anew, takes along what is its own and nothing else', () => {
  const both = foldHubEvents(EMPTY, [
    event(MILL, { kind: 'node-changed', node: node(MILL) }),
    event(FORGE, { kind: 'node-changed', node: node(FORGE) }),
    changed(MILL, session('1', 'mine')),
    changed(FORGE, session('2', 'other')),
  ]);
  const removed = foldHubEvents(both, [event(MILL, { kind: 'node-removed' })]);
  expect(names(removed)).toEqual(['other']);
  expect([...removed.nodes.keys()]).toEqual([FORGE]);
  const anew = replaceNode(both, MILL, {
    nodes: [node(MILL)],
    sessions: [{ ...session('3', 'fresh'), nodeId: MILL }],
    records: [],
    workspaces: [],
  });
  expect(names(anew)).toEqual(['fresh', 'other']);
});

test('what is asked waits until it is settled or its session is gone', () => {
  const asked = (state: 'pending' | 'answered') =>
    event(MILL, {
      kind: 'interaction-changed',
      interaction: {
        id: '1'.repeat(24),
        session: { workspaceId: 'shop', sessionId: '1'.repeat(16), generation: 1 },
        provider: 'claude',
        interaction: 'approval',
        tool: 'Bash',
        state,
        askedAt: AT,
        expiresAt: null,
        settledAt: null,
        outcome: null,
        answeredBy: null,
      },
    } as HubEventBody);
  const waiting = foldHubEvents(EMPTY, [asked('pending')]);
  expect(waiting.interactions.size).toBe(1);
  expect(foldHubEvents(waiting, [asked('answered')]).interactions.size).toBe(0);
  const gone = event(MILL, {
    kind: 'session-removed',
    sessionId: '1'.repeat(16) as SessionId,
    workspaceId: null,
  });
  expect(foldHubEvents(waiting, [gone]).interactions.size).toBe(0);
});

test('events together and one by one end in the same view', () => {
  const bodies = fc.constantFrom<HubEvent>(
    changed(MILL, session('1', 'a')),
    changed(MILL, session('1', 'b')),
    changed(FORGE, session('2', 'c')),
    event(MILL, { kind: 'session-removed', sessionId: '1'.repeat(16) as SessionId, workspaceId: null }),
    event(FORGE, { kind: 'node-removed' }),
    event(FORGE, { kind: 'node-changed', node: node(FORGE) }),
  );
  fc.assert(
    fc.property(fc.array(bodies, { maxLength: 20 }), (events) => {
      const oneByOne = events.reduce((view, one) => foldHubEvents(view, [one]), EMPTY);
      expect(foldHubEvents(EMPTY, events)).toEqual(oneByOne);
    }),
  );
});
