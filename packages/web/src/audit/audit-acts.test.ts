import { expect, test } from 'vitest';
import { viewOf } from '@roost/client/browser';
import { AuditEntry } from '@roost/protocol';
import { node, NODE_ID, session } from '../testing/things.ts';
import { auditActs, targetText } from './audit-acts.ts';

let sequence = 0;
const line = (
  requestId: string,
  phase: 'asked' | 'answered',
  target: Record<string, string> = {},
): AuditEntry =>
  AuditEntry.parse({
    sequence: ++sequence,
    at: '2026-01-01T00:00:00Z',
    requestId,
    phase,
    actor: 'ada',
    credential: null,
    from: 'local',
    operation: 'session.stop',
    nodeId: NODE_ID,
    target,
    outcome: phase === 'asked' ? null : 'done',
  });

test('an act has one line: what came of it, or that it was asked as long as nothing is known', () => {
  const lines = [
    line('c', 'asked'),
    line('b', 'answered'),
    line('a', 'answered'),
    line('b', 'asked'),
    line('a', 'asked'),
  ];
  expect(auditActs(lines).map(({ requestId, phase }) => `${requestId} ${phase}`)).toEqual([
    'c asked',
    'b answered',
    'a answered',
  ]);
});

test('what it was done to is called by its name as long as the hub knows one', () => {
  const known = session({ name: 'builder' });
  const view = viewOf({ nodes: [node({ name: 'mill' })], sessions: [known], records: [], workspaces: [] });
  const target = { workspaceId: 'shop', sessionId: known.id };
  expect(targetText(line('a', 'asked', target), view)).toBe('session builder in shop on mill');
  expect(targetText(line('a', 'asked', target), null)).toBe(`session ${known.id} in shop on ${NODE_ID}`);
  expect(targetText(line('a', 'asked', { path: 'a.ts' }), view)).toBe('path a.ts on mill');
});
