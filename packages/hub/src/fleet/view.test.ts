import { expect, test } from 'vitest';
import {
  HubRecord,
  HubSession,
  HubWorkspace,
  InteractionId,
  SessionId,
  WorkspaceId,
  type HubEventBody,
} from '@roost/protocol';
import { emptySnapshot, INCARNATION } from './connection-for-test.ts';
import { View } from './view.ts';

const AT = '2026-01-01T00:00:00.000Z';
const PLACE = WorkspaceId.parse('here');

function session(digit: string, more: object = {}): HubSession {
  return HubSession.parse({
    id: digit.repeat(16),
    recordId: null,
    generation: 1,
    name: `s-${digit}`,
    provider: 'shell',
    transport: 'pty',
    status: 'running',
    workspaceId: PLACE,
    protocol: null,
    size: null,
    activity: null,
    createdAt: AT,
    endedAt: null,
    exitCode: null,
    exitSignal: null,
    endReason: null,
    attachedClients: 0,
    ...more,
  });
}

const blocked = {
  state: 'blocked',
  source: 'hooks',
  since: AT,
  reason: 'approval',
  authority: null,
  detail: null,
};
const record = HubRecord.parse({
  id: 'c'.repeat(16),
  name: 'r',
  provider: 'shell',
  transport: 'pty',
  state: 'dormant',
  workspaceId: PLACE,
  generation: 1,
  activeSession: null,
  createdAt: AT,
  updatedAt: AT,
  lastError: null,
  hasProviderSession: true,
});
const workspace = HubWorkspace.parse({ id: PLACE, kind: 'git', createdAt: AT, liveSessions: 0, git: null });

function viewAfter(...bodies: HubEventBody[]): View {
  const view = View.of(emptySnapshot({ sequence: 7 }), '1.2.3');
  for (const body of bodies) view.apply(body);
  return view;
}

test('live and blocked sessions are counted as they change, end and go', () => {
  const view = viewAfter({ kind: 'session-changed', session: session('a') });
  expect(view.counts).toEqual({ live: 1, blocked: 0 });
  view.apply({ kind: 'session-changed', session: session('a', { activity: blocked }) });
  view.apply({ kind: 'session-changed', session: session('b') });
  expect(view.counts).toEqual({ live: 2, blocked: 1 });
  view.apply({ kind: 'session-changed', session: session('a', { activity: blocked, status: 'exited' }) });
  expect(view.counts).toEqual({ live: 1, blocked: 0 });
  const gone = {
    kind: 'session-removed',
    sessionId: SessionId.parse('b'.repeat(16)),
    workspaceId: PLACE,
  } as const;
  view.apply(gone);
  view.apply(gone);
  expect(view.counts).toEqual({ live: 0, blocked: 0 });
});

test('what was stored is taken up again as it was', () => {
  const view = viewAfter(
    { kind: 'workspace-changed', workspace },
    { kind: 'session-changed', session: session('a', { activity: blocked }) },
    { kind: 'record-changed', record },
  );
  const again = View.restore(view.store());
  expect(again).not.toBeNull();
  expect(again?.cursor).toEqual({ sequence: 7, incarnation: INCARNATION });
  expect(again?.version).toBe('1.2.3');
  expect(again?.counts).toEqual({ live: 1, blocked: 1 });
  for (const name of ['workspaces', 'sessions', 'records'] as const)
    expect([...(again?.[name] ?? [])]).toEqual([...view[name]]);
});

test.each(['', '{', '{}', '[]', 'null', JSON.stringify({ cursor: null, version: null, workspaces: [{}] })])(
  'of another form it is nothing: %s',
  (text) => {
    expect(View.restore(text)).toBeNull();
  },
);

test('what an older build had stored beside the allowed is dropped', () => {
  const stored = JSON.parse(viewAfter({ kind: 'session-changed', session: session('a') }).store()) as {
    sessions: object[];
  };
  stored.sessions = stored.sessions.map((one) => ({ ...one, directory: '/secret' }));
  expect(View.restore(JSON.stringify(stored))?.store()).not.toContain('secret');
});

test('it knows where is asked what waits for an answer, and forgets what is settled', () => {
  const id = InteractionId.parse('1'.repeat(24));
  const other = InteractionId.parse('2'.repeat(24));
  const where = { workspaceId: PLACE, sessionId: SessionId.parse('a'.repeat(16)), generation: 1 };
  const view = viewAfter();
  view.putInteractions([
    { id, state: 'pending', session: where },
    { id: other, state: 'answered', session: where },
  ]);
  expect([...view.asked]).toEqual([[id, { workspaceId: PLACE, sessionId: where.sessionId }]]);
  view.putInteraction({ id, state: 'expired', session: where });
  expect(view.asked.size).toBe(0);
});

test.each<[string, HubEventBody]>([
  ['ends', { kind: 'session-changed', session: session('a', { status: 'exited' }) }],
  ['is removed', { kind: 'session-removed', sessionId: SessionId.parse('a'.repeat(16)), workspaceId: PLACE }],
])('nothing is asked by a session that %s, whatever was told of it before', (_, end) => {
  const asking = (digit: string) => ({
    id: InteractionId.parse(digit.repeat(24)),
    state: 'pending' as const,
    session: { workspaceId: PLACE, sessionId: SessionId.parse(digit.repeat(16)), generation: 1 },
  });
  const view = viewAfter({ kind: 'session-changed', session: session('a') });
  for (const digit of ['a', 'b']) view.putInteraction(asking(digit));
  view.apply(end);
  expect([...view.asked.keys()]).toEqual([asking('b').id]);
});
