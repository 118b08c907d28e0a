import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AgentEvent, TimelineEntry } from '@roost/protocol';
import { EMPTY_TIMELINE, foldTimeline } from './timeline-model.ts';

const entries = (...events: AgentEvent[]): TimelineEntry[] =>
  events.map((event, index) => ({ position: index * 10, at: '2026-01-01T00:00:00Z', event }));
const message = (text: string, delta: boolean): AgentEvent => ({ kind: 'message', text, delta });

const CONVERSATION = entries(
  { kind: 'session-started', providerSessionId: null, model: 'small', version: null },
  { kind: 'turn-started', prompt: 'count' },
  { kind: 'plan', entries: [{ text: 'look', status: 'pending' }] },
  message('Let me ', true),
  message('look.', true),
  message('Let me look.', false),
  { kind: 'tool-started', toolId: 't1', tool: 'Bash', title: 'wc', input: '{"command":"wc -l"}' },
  {
    kind: 'interaction-requested',
    requestId: 'r1',
    interaction: 'approval',
    tool: 'Bash',
    toolId: 't1',
    title: 'Run wc',
    detail: 'wc -l',
    options: [],
  },
  { kind: 'interaction-settled', requestId: 'r1', outcome: 'approved' },
  { kind: 'tool-finished', toolId: 't1', outcome: 'ok', output: '3', durationMs: 12 },
  { kind: 'plan', entries: [{ text: 'look', status: 'completed' }] },
  message('Three.', false),
  { kind: 'turn-finished', outcome: 'completed', stopReason: null, fault: null },
);

test('pieces are joined and replaced by the whole, tools and requests get their outcomes, a plan is one', () => {
  const { items, model, isWorking } = foldTimeline(EMPTY_TIMELINE, CONVERSATION);
  expect(items.map((item) => (item.kind === 'message' ? item.text : item.kind))).toEqual([
    'prompt',
    'plan',
    'Let me look.',
    'tool',
    'request',
    'Three.',
  ]);
  expect(items.find(({ kind }) => kind === 'tool')).toMatchObject({
    outcome: 'ok',
    output: '3',
    durationMs: 12,
  });
  expect(items.find(({ kind }) => kind === 'request')).toMatchObject({ outcome: 'approved' });
  expect(items.find(({ kind }) => kind === 'plan')).toMatchObject({ entries: [{ status: 'completed' }] });
  expect({ model, isWorking }).toEqual({ model: 'small', isWorking: false });
});

test('in whatever portions it comes, the timeline is the same', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(CONVERSATION.length), { maxLength: 5 }), (cuts) => {
      const edges = [0, ...cuts.toSorted((a, b) => a - b), CONVERSATION.length];
      const folded = edges.reduce(
        (timeline, edge, index) => foldTimeline(timeline, CONVERSATION.slice(edges[index - 1] ?? 0, edge)),
        EMPTY_TIMELINE,
      );
      expect(folded).toEqual(foldTimeline(EMPTY_TIMELINE, CONVERSATION));
    }),
  );
});

test('messages of a sub-agent are not mixed with those of the agent', () => {
  const { items } = foldTimeline(
    EMPTY_TIMELINE,
    entries(
      message('a', true),
      { kind: 'message', text: 'b', delta: true, agentId: 'sub' },
      message('c', true),
    ),
  );
  expect(items.map((item) => [item.agentId, 'text' in item ? item.text : null])).toEqual([
    [null, 'a'],
    ['sub', 'b'],
    [null, 'c'],
  ]);
});

test('a turn that did not complete says how it ended', () => {
  const { items } = foldTimeline(
    EMPTY_TIMELINE,
    entries({ kind: 'turn-finished', outcome: 'failed', stopReason: null, fault: 'no network' }),
  );
  expect(items).toMatchObject([{ kind: 'turn-end', outcome: 'failed', fault: 'no network' }]);
});
