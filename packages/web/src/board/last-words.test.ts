import { expect, test } from 'vitest';
import type { AgentEvent } from '@roost/protocol';
import { EMPTY_TIMELINE, foldTimeline } from '../session/timeline-model.ts';
import { lastWords } from './last-words.ts';

const wordsAfter = (...events: AgentEvent[]): string[] =>
  lastWords(
    foldTimeline(
      EMPTY_TIMELINE,
      events.map((event, index) => ({ position: index * 10, at: '2026-01-01T00:00:00Z', event })),
    ),
  );
const message = (text: string): AgentEvent => ({ kind: 'message', text, delta: false });

test('the newest things are told, each on one line, tools by what they work on', () => {
  const words = wordsAfter(
    { kind: 'turn-started', prompt: 'mend\nit' },
    message('I look.'),
    {
      kind: 'tool-started',
      toolId: 't1',
      tool: 'Edit',
      title: null,
      input: '{"file_path":"/a/b.ts","content":"x"}',
    },
    message('Mended:\n\n- one line'),
  );
  expect(words).toEqual(['I look.', 'Edit b.ts', 'Mended: - one line']);
  expect(wordsAfter({ kind: 'turn-started', prompt: 'mend\nit' })).toEqual(['› mend it']);
});

test('what is long is cut, and what says nothing is left out', () => {
  const [words = ''] = wordsAfter({ kind: 'thinking', text: 'hm', delta: false }, message('x'.repeat(500)));
  expect(words.length).toBeLessThan(200);
  expect(words).toMatch(/x …$/);
});
