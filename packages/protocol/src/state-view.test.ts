import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventBody, NodeEvent } from './events.ts';
import { ConnectionId, Incarnation, KeeperId, RecordId, SessionId, SessionName, WorkspaceId } from './ids.ts';
import type { SessionRecord } from './session-record.ts';
import { LIVE_STATUSES, SessionStatus, type Session } from './session.ts';
import { applyEvent, emptyState, stateAt, type StateView } from './state-view.ts';

const AT = '2026-01-01T00:00:00.000Z';
const INCARNATION = Incarnation.parse('0'.repeat(16));
const hex = (number: number) => number.toString(16).padStart(16, '0');
const workspaceId = (number: number) => WorkspaceId.parse(`w${number}`);

function session(number: number, workspace: number, status: SessionStatus): Session {
  return {
    id: SessionId.parse(hex(number)),
    recordId: null,
    generation: 1,
    name: SessionName.parse(`s${number}`),
    provider: 'shell',
    transport: 'pty',
    status,
    workspaceId: workspaceId(workspace),
    directory: '/',
    command: ['sh'],
    keeperId: KeeperId.parse(hex(1)),
    pid: 1,
    size: null,
    title: null,
    createdAt: AT,
    endedAt: null,
    exitCode: null,
    exitSignal: null,
    endReason: null,
    attachedClients: 0,
    usage: null,
  };
}

function record(number: number, name: string): SessionRecord {
  return {
    id: RecordId.parse(hex(number)),
    name: SessionName.parse(name),
    provider: 'claude',
    transport: 'pty',
    state: 'dormant',
    workspaceId: workspaceId(0),
    workspaceRoot: '/',
    directory: '/',
    generation: 1,
    providerSession: null,
    activeSession: null,
    environmentProfile: null,
    bundle: null,
    context: null,
    taskBinding: null,
    createdAt: AT,
    updatedAt: AT,
    lastError: null,
  };
}

const registered = (number: number): EventBody => ({
  kind: 'workspace-registered',
  workspace: { id: workspaceId(number), root: `/${number}`, kind: 'plain', createdAt: AT, liveSessions: 0 },
});
const changed = (number: number, workspace: number, status: SessionStatus): EventBody => ({
  kind: 'session-changed',
  session: session(number, workspace, status),
});
const removed = (number: number): EventBody => ({
  kind: 'session-removed',
  sessionId: SessionId.parse(hex(number)),
  provider: 'shell',
});

const small = fc.nat(3);
const Body: fc.Arbitrary<EventBody> = fc.oneof(
  small.map(registered),
  small.map((number): EventBody => ({ kind: 'workspace-unregistered', workspaceId: workspaceId(number) })),
  fc
    .tuple(small, small, fc.constantFrom(...SessionStatus.options))
    .map(([number, workspace, status]) => changed(number, workspace, status)),
  small.map(removed),
  fc
    .tuple(small, fc.constantFrom('a', 'b', 'c'))
    .map(([number, name]): EventBody => ({ kind: 'record-changed', record: record(number, name) })),
  small.map((number): EventBody => ({
    kind: 'record-removed',
    recordId: RecordId.parse(hex(number)),
    provider: 'claude',
  })),
  fc.boolean().map((held): EventBody => ({
    kind: 'controller-changed',
    controller: held ? { connectionId: ConnectionId.parse(1), clientName: 'test', remainingMs: 1_000 } : null,
    reason: held ? 'acquired' : 'expired',
  })),
  fc.constant<EventBody>({ kind: 'node-started', incarnation: INCARNATION, version: '1' }),
);

const numbered = (bodies: readonly EventBody[], first = 1): NodeEvent[] =>
  bodies.map((body, index) => ({ sequence: first + index, incarnation: INCARNATION, at: AT, body }));

function fold(events: readonly NodeEvent[], state = emptyState()): StateView {
  for (const event of events) applyEvent(state, event);
  return state;
}

describe('the state that events tell', () => {
  it('is the same when any part of the events comes again', () => {
    fc.assert(
      fc.property(fc.array(Body, { maxLength: 60 }), fc.nat(60), fc.nat(60), (bodies, from, to) => {
        const events = numbered(bodies);
        const once = fold(events);
        const again = fold(events);
        for (const event of events.slice(from, to)) expect(applyEvent(again, event)).toBe(false);
        expect(again).toEqual(once);
        expect(fold(events, fold(events.slice(0, from)))).toEqual(once);
      }),
    );
  });

  it('is the same from a moment on as from the beginning, apart from how far back changes are known', () => {
    fc.assert(
      fc.property(fc.array(Body, { maxLength: 60 }), fc.nat(60), (bodies, cut) => {
        const events = numbered(bodies);
        const whole = fold(events);
        const before = fold(events.slice(0, cut));
        const values = <Value>(things: ReadonlyMap<unknown, { value: Value }>) =>
          [...things.values()].map(({ value }) => value);
        const seen = (state: StateView) => ({
          ...state,
          workspaces: values(state.workspaces),
          sessions: values(state.sessions),
          records: values(state.records),
          worktrees: values(state.worktrees),
          knownFrom: 0,
          removed: null,
        });
        const moment = stateAt({ ...seen(before), sequence: before.sequence });
        expect(seen(fold(events.slice(cut), moment))).toEqual(seen(whole));
        expect(moment.knownFrom).toBe(before.sequence);
      }),
    );
  });

  it('tells of each workspace how many of its sessions live, and marks it as changed when that changes', () => {
    fc.assert(
      fc.property(fc.array(Body, { maxLength: 60 }), (bodies) => {
        const state = emptyState();
        for (const event of numbered(bodies)) {
          const before = new Map(state.workspaces);
          applyEvent(state, event);
          for (const [id, { value, changedAt }] of state.workspaces) {
            const live = [...state.sessions.values()].filter(
              ({ value: one }) => one.workspaceId === id && LIVE_STATUSES.includes(one.status),
            );
            expect(value.liveSessions).toBe(live.length);
            if (before.get(id)?.value.liveSessions !== live.length) expect(changedAt).toBe(event.sequence);
          }
        }
      }),
    );
  });

  it('picks out what is different after any moment: what changed and what is gone make the old into the new', () => {
    fc.assert(
      fc.property(fc.array(Body, { maxLength: 60 }), fc.nat(60), (bodies, cut) => {
        const events = numbered(bodies);
        const old = fold(events.slice(0, cut));
        const now = fold(events);
        for (const kind of ['workspaces', 'sessions', 'records', 'worktrees'] as const) {
          const merged = new Map<unknown, unknown>(
            [...old[kind]].map(([id, { value }]): [unknown, unknown] => [id, value]),
          );
          for (const [id, at] of now.removed[kind]) if (at > old.sequence) merged.delete(id);
          for (const [id, { value, changedAt }] of now[kind]) {
            if (changedAt > old.sequence) merged.set(id, value);
          }
          const current = [...now[kind]].map(([id, { value }]): [unknown, unknown] => [id, value]);
          expect(merged).toEqual(new Map<unknown, unknown>(current));
        }
      }),
    );
  });

  it('remembers a bounded number of removed things, and tells from where on it knows all', () => {
    const state = emptyState();
    fold(numbered(Array.from({ length: 4_096 }, (_, index) => removed(index))), state);
    expect([state.removed.sessions.size, state.knownFrom]).toEqual([4_096, 0]);
    fold(numbered([removed(5_000), removed(5_001)], 4_097), state);
    expect([state.removed.sessions.size, state.knownFrom]).toEqual([4_096, 2]);
  });

  it('has no controller after a start of the node', () => {
    const state = fold(
      numbered([
        {
          kind: 'controller-changed',
          controller: { connectionId: ConnectionId.parse(1), clientName: 'test', remainingMs: 1 },
          reason: 'acquired',
        },
      ]),
    );
    expect(state.controller).not.toBeNull();
    fold(numbered([{ kind: 'node-started', incarnation: INCARNATION, version: '1' }], 2), state);
    expect(state.controller).toBeNull();
  });
});
