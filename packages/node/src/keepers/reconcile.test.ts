import { describe, expect, it } from 'vitest';
import type { ChildState } from '@roost/keeper/wire';
import type { SessionStatus } from '@roost/protocol';
import { planReconcile, type KeeperEvidence, type ReconcileAction } from './reconcile.ts';

const child = (sessionId: string, exitCode?: number): ChildState => ({
  sessionId,
  transport: 'pty',
  pid: 100,
  processStart: '1',
  startedAt: 0,
  size: { columns: 80, rows: 24 },
  title: null,
  attachedClients: 0,
  note: '',
  exit: exitCode === undefined ? null : { exitCode, exitSignal: null, endedAt: 1 },
  output: null,
});
const runs = child('s');
const over = child('s', 3);
const answered = (...children: ChildState[]): KeeperEvidence => ({
  kind: 'answered',
  children: new Map(children.map((one) => [one.sessionId, one])),
});
const dead = (...children: ChildState[]): KeeperEvidence => ({
  kind: 'dead',
  lastKnown: new Map(children.map((one) => [one.sessionId, one])),
});
const confirm: ReconcileAction = { kind: 'confirm', sessionId: 's', child: runs };
const collect: ReconcileAction = { kind: 'collect', sessionId: 's', child: over };
const lose: ReconcileAction = { kind: 'lose', sessionId: 's' };

describe('reconciling one row with its keeper', () => {
  it.each<[SessionStatus, string, KeeperEvidence, ReconcileAction[]]>([
    ['starting', 'holds it running', answered(runs), [confirm]],
    ['starting', 'holds it ended', answered(over), [collect]],
    ['starting', 'does not know it', answered(), [{ kind: 'never-started', sessionId: 's' }]],
    ['starting', 'is dead', dead(), [lose]],
    ['starting', 'cannot be reached', { kind: 'unreachable' }, []],
    ['running', 'holds it running', answered(runs), [confirm]],
    ['running', 'holds it ended', answered(over), [collect]],
    ['running', 'does not know it', answered(), [lose]],
    ['running', 'is dead', dead(runs), [lose]],
    [
      'running',
      'is dead but told the exit',
      dead(over),
      [{ kind: 'record-exit', sessionId: 's', child: over }],
    ],
    ['running', 'cannot be reached', { kind: 'unreachable' }, []],
    ['stopping', 'holds it ended', answered(over), [collect]],
    ['stopping', 'is dead', dead(), [lose]],
    ['exited', 'still holds it', answered(over), [{ kind: 'release', sessionId: 's' }]],
    ['exited', 'has forgotten it', answered(), []],
    ['exited', 'is dead', dead(), []],
    ['lost', 'holds it running after all', answered(runs), [confirm]],
    ['lost', 'holds it ended', answered(over), [collect]],
    ['failed', 'holds it running after all', answered(runs), [confirm]],
    ['failed', 'does not know it', answered(), []],
  ])('row %s, keeper %s', (status, _, evidence, expected) => {
    const rows = [{ id: 's', status }];
    expect(planReconcile({ rows, evidence, spawning: new Set(), removed: new Set() })).toEqual(expected);
  });

  it('leaves a session alone while its spawn call is under way', () => {
    const rows = [{ id: 's', status: 'starting' as const }];
    for (const evidence of [answered(), answered(runs)]) {
      expect(planReconcile({ rows, evidence, spawning: new Set(['s']), removed: new Set() })).toEqual([]);
    }
  });
});

describe('children without a row', () => {
  const plan = (evidence: KeeperEvidence, removed: string[] = []) =>
    planReconcile({ rows: [], evidence, spawning: new Set(), removed: new Set(removed) });

  it('are adopted, running or ended', () => {
    expect(plan(answered(runs))).toEqual([{ kind: 'adopt', child: runs }]);
    expect(plan(answered(over))).toEqual([{ kind: 'adopt', child: over }]);
  });

  it('are released when they were removed here, but never while they run', () => {
    expect(plan(answered(over), ['s'])).toEqual([{ kind: 'release', sessionId: 's' }]);
    expect(plan(answered(runs), ['s'])).toEqual([{ kind: 'adopt', child: runs }]);
  });
});
