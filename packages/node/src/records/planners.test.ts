import { describe, expect, it } from 'vitest';
import {
  FailureError,
  RecordId,
  SessionId,
  SessionName,
  TaskId,
  WorkspaceId,
  type RecordState,
  type SessionStatus,
} from '@roost/protocol';
import { planIdentity, type IdentityFacts, type ReportedIdentity } from './identity-plan.ts';
import { newRecordRow } from './new-record.ts';
import { planRecord } from './record-policy.ts';
import type { RecordRow } from './record-table.ts';
import { planRetention } from './retention.ts';
import { planTask } from './task-binding.ts';

const session = SessionId.parse('00000000000000a1');
const other = SessionId.parse('00000000000000a2');
const base: RecordRow = newRecordRow({
  id: RecordId.parse('00000000000000b1'),
  name: SessionName.parse('one'),
  provider: 'claude',
  transport: 'pty',
  workspaceId: WorkspaceId.parse('w'),
  workspaceRoot: '/w',
  directory: '/w',
  arguments: [],
  providerSession: null,
  run: { id: session, generation: 1 },
  environmentProfile: null,
  bundle: null,
  context: null,
  createdAt: 100,
});
const known = { provider_session_key: 'session-id', provider_session_id: 's1' } as const;
const record = (change: Partial<RecordRow> = {}): RecordRow => ({ ...base, ...change });

describe('a record follows its run', () => {
  const follow = (
    from: RecordRow,
    state: SessionStatus | 'removed',
    facts = { canIdentify: true, canResume: true },
    run: Partial<Parameters<typeof planRecord>[1]> = {},
  ) =>
    planRecord(
      from,
      { id: session, generation: 1, name: from.name, state, resumeRefused: false, ...run },
      { ...facts, now: 500 },
    );
  const raw = { canIdentify: false, canResume: false };

  it.each([
    ['an identity is pending while it runs', record(), 'running', undefined, null],
    ['it is live with an identity', record({ ...known }), 'running', undefined, 'live'],
    ['it is live without one where none is told', record(), 'running', raw, 'live'],
    [
      'it rests with an identity when the run ends',
      record({ ...known, state: 'live' }),
      'exited',
      undefined,
      'dormant',
    ],
    ['it cannot be resumed without one', record({ state: 'live' }), 'exited', undefined, 'unavailable'],
    [
      'it cannot where the provider cannot',
      record({ ...known, state: 'live' }),
      'exited',
      raw,
      'unavailable',
    ],
    [
      'it rests when the run is removed',
      record({ ...known, state: 'live' }),
      'removed',
      undefined,
      'dormant',
    ],
  ] as const)('%s', (_, from, state, facts, expected: RecordState | null) => {
    expect(follow(from, state, facts)?.state ?? null).toBe(expected);
  });

  it('with a label of what went wrong, that a next run clears', () => {
    expect(follow(record({ ...known }), 'failed')).toMatchObject({ last_error: 'provider-runtime-failed' });
    expect(follow(record({ ...known }), 'lost')).toMatchObject({ last_error: 'keeper-died' });
    const after = record({ ...known, state: 'dormant', active_session_id: null, last_error: 'keeper-died' });
    expect(follow(after, 'running', undefined, { id: other, generation: 2 })).toMatchObject({
      state: 'live',
      active_session_id: other,
      generation: 2,
      last_error: null,
    });
  });

  it('with a label of its own when the provider would not run it on', () => {
    const live = record({ ...known, state: 'live' });
    expect(follow(live, 'exited', undefined, { resumeRefused: true })).toMatchObject({
      state: 'dormant',
      last_error: 'provider-resume-rejected',
    });
  });

  it('with the error of before until it is proven to run, and after a clean end', () => {
    const lost = record({ ...known, state: 'live', last_error: 'keeper-died' });
    expect(follow(lost, 'starting')).toBeNull();
    expect(follow(lost, 'exited')).toMatchObject({ state: 'dormant', last_error: 'keeper-died' });
    expect(follow(lost, 'running')).toMatchObject({ state: 'live', last_error: null });
  });

  it('back to life when a run that was thought lost is there after all', () => {
    const rests = record({ ...known, state: 'dormant', active_session_id: null, last_error: 'keeper-died' });
    expect(follow(rests, 'running')).toMatchObject({
      state: 'live',
      active_session_id: session,
      last_error: null,
    });
  });

  it('in its name', () => {
    const live = record({ ...known, state: 'live' });
    const name = SessionName.parse('second');
    expect(follow(live, 'running', undefined, { name })).toMatchObject({ name, state: 'live' });
  });

  it('and no news of an earlier run, or of another one, changes it', () => {
    const now = record({ ...known, state: 'live', active_session_id: other, generation: 2 });
    expect(follow(now, 'exited')).toBeNull();
    expect(follow(now, 'running')).toBeNull();
    expect(follow(now, 'exited', undefined, { generation: 2 })).toBeNull();
  });

  it('but keeps a conflict for as long as the run that has it', () => {
    const conflict = record({ state: 'unavailable', last_error: 'provider-session-live-conflict' });
    expect(follow(conflict, 'running')).toBeNull();
    expect(follow(conflict, 'exited')).toMatchObject({ active_session_id: null, state: 'unavailable' });
  });

  it('with a time of change that grows though the clock goes back', () => {
    const late = record({ ...known, state: 'live', updated_at: 9_000 });
    expect(follow(late, 'exited')?.updated_at).toBe(9_001);
  });
});

describe('an identity that is told', () => {
  const told: ReportedIdentity = { key: 'session-id', id: 's1', transcriptPath: null };
  const plan = (
    current: RecordRow | null,
    existing: RecordRow | null,
    identity = told,
    facts: IdentityFacts = { canIdentify: true, hasRoom: true },
  ) => planIdentity(current, current ?? base, existing, identity, facts);
  const old = record({
    ...known,
    id: RecordId.parse('00000000000000b2'),
    active_session_id: null,
    state: 'dormant',
  });

  it('is ignored where the provider cannot tell', () => {
    expect(plan(base, old, told, { canIdentify: false, hasRoom: true })).toEqual({ kind: 'unchanged' });
  });

  it.each([
    ['provider', 'codex'],
    ['transport', 'pipe'],
    ['workspace_id', WorkspaceId.parse('other')],
    ['workspace_root', '/elsewhere'],
    ['environment_profile', '{}'],
    ['bundle', '{}'],
    ['context', '{}'],
  ] as const)('is a conflict when another record has it with another %s', (column, value) => {
    expect(plan(base, { ...old, [column]: value })).toEqual({
      kind: 'conflict',
      error: 'provider-session-scope-conflict',
    });
  });

  it('is a conflict when a run of the other record lives', () => {
    expect(plan(base, { ...old, active_session_id: other })).toEqual({
      kind: 'conflict',
      error: 'provider-session-live-conflict',
    });
  });

  it('folds the run into the record that has it; its own goes when it had none, and rests when it had another', () => {
    expect(plan(base, old)).toEqual({ kind: 'fold', dropsCurrent: true });
    expect(plan(record({ provider_session_key: 'session-id', provider_session_id: 's9' }), old)).toEqual({
      kind: 'fold',
      dropsCurrent: false,
    });
    expect(plan(null, old)).toEqual({ kind: 'fold', dropsCurrent: false });
  });

  it('is taken by a record without one, and again when it tells more', () => {
    expect(plan(base, null)).toEqual({ kind: 'take' });
    const live = record({ ...known, state: 'live' });
    expect(plan(live, live)).toEqual({ kind: 'unchanged' });
    expect(plan(live, live, { ...told, transcriptPath: '/t' })).toEqual({ kind: 'take' });
  });

  it('is taken, and folds, also where there is no room for another record', () => {
    const full = { canIdentify: true, hasRoom: false };
    expect(plan(base, null, told, full)).toEqual({ kind: 'take' });
    expect(plan(base, old, told, full)).toEqual({ kind: 'fold', dropsCurrent: true });
  });

  it('ends the conflict of a record that is told its own again', () => {
    expect(plan(record({ ...known, state: 'unavailable' }), null)).toEqual({ kind: 'take' });
  });

  it('of another session of the provider makes another record, while there is room', () => {
    const live = record({ ...known, state: 'live' });
    const next = { ...told, id: 's2' };
    expect(plan(live, null, next)).toEqual({ kind: 'replace' });
    expect(plan(null, null, next)).toEqual({ kind: 'replace' });
    expect(plan(live, null, next, { canIdentify: true, hasRoom: false })).toEqual({
      kind: 'refuse',
      error: 'managed-session-capacity',
    });
  });
});

describe('a task', () => {
  const mint = () => TaskId.parse(`task-${'0'.repeat(24)}`);
  const wish = (expectedRevision: number, target: Parameters<typeof planTask>[1]['target'], from = base) =>
    planTask(from, { expectedRevision, target }, { now: 50, mint });

  it('is not touched by a wish that is fulfilled already', () => {
    expect(wish(0, { kind: 'clear' })).toBeNull();
    const bound = record({ task_revision: 1, task_id: mint() });
    expect(wish(1, { kind: 'existing', taskId: mint() }, bound)).toBeNull();
  });

  it('changes one revision at a time, later than anything before', () => {
    expect(wish(0, { kind: 'new' })).toEqual({
      task_revision: 1,
      task_id: mint(),
      task_changed_at: 101,
      updated_at: 101,
    });
    const full = record({ task_revision: Number.MAX_SAFE_INTEGER });
    expect(() => wish(Number.MAX_SAFE_INTEGER, { kind: 'new' }, full)).toThrow(FailureError);
    expect(() => wish(1, { kind: 'new' })).toThrow(FailureError);
  });
});

describe('old records', () => {
  const now = 1_000_000;
  const aged = (name: string, workspace: string, ageMs: number, state: RecordState = 'unavailable') => ({
    id: RecordId.parse(Buffer.from(name.padEnd(8, '_')).toString('hex')),
    workspace_id: WorkspaceId.parse(workspace),
    state,
    active_session_id: state === 'live' ? session : null,
    updated_at: now - ageMs,
  });
  const records = [
    aged('a1', 'a', 500_000),
    aged('a2', 'a', 300_000),
    aged('a3', 'a', 100_000),
    aged('b1', 'b', 400_000),
    aged('b2', 'b', 200_000),
    aged('b3', 'b', 50_000),
    aged('l', 'a', 500_000, 'live'),
    aged('i', 'a', 500_000, 'identity-pending'),
    aged('d', 'a', 500_000, 'dormant'),
  ];
  const gone = (retainMs: number, keepPerWorkspace: number, among = records) =>
    planRetention(among, { retainMs, keepPerWorkspace }, now)
      .map(({ recordId }) => Buffer.from(recordId, 'hex').toString().replaceAll('_', ''))
      .sort();

  it('go beyond the newest of each workspace', () => {
    expect(gone(0, 1)).toEqual(['a1', 'a2', 'b1', 'b2']);
  });

  it('go only when both rules say so, where there are two', () => {
    expect(gone(250_000, 1)).toEqual(['a1', 'a2', 'b1']);
  });

  it('go by age alone where only that is set', () => {
    expect(gone(250_000, 0)).toEqual(['a1', 'a2', 'b1']);
  });

  it('stay without a rule', () => {
    expect(gone(0, 0)).toEqual([]);
  });

  it('stay while a run lives, whatever their state', () => {
    const flagged = { ...aged('x', 'c', 900_000), active_session_id: session };
    expect(gone(1, 0, [flagged])).toEqual([]);
  });
});
