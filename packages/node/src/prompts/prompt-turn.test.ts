import { describe, expect, test } from 'vitest';
import type { Activity, AgentEvent } from '@roost/protocol';
import { heardAfter, shownAfter, writtenPrompt } from './prompt-turn.ts';

const started = (prompt: string | null): AgentEvent => ({ kind: 'turn-started', prompt });
const finished: AgentEvent = { kind: 'turn-finished', outcome: 'completed', stopReason: null, fault: null };
type Shown = Pick<Activity, 'state' | 'reason'>;
const shown = (state: Activity['state'], reason: Activity['reason'] = null): Shown => ({ state, reason });

/** How far the prompt is known to have come after each piece of news. */
function story(text: string, news: readonly (AgentEvent | Shown)[]): string[] {
  let turn = writtenPrompt(text);
  return news.map((one) => {
    turn = 'kind' in one ? heardAfter(turn, one) : shownAfter(turn, one);
    return turn.delivery;
  });
}

describe('a prompt', () => {
  test('is accepted when the agent says that it began with it, and answered when it says that the turn is over', () => {
    expect(story('do it', [started('do it'), shown('working'), finished])).toEqual([
      'accepted',
      'accepted',
      'answered',
    ]);
  });
  test('is accepted when work is seen, and answered when a composer is seen after it', () => {
    expect(story('do it', [shown('ready'), shown('working'), shown('done')])).toEqual([
      'written',
      'accepted',
      'answered',
    ]);
  });
  test('is accepted by a question that the agent asks, and not answered by it', () => {
    expect(story('do it', [shown('blocked', 'approval'), shown('working'), shown('idle')])).toEqual([
      'accepted',
      'accepted',
      'answered',
    ]);
  });
  test('whose turn failed, or came to a limit, is over', () => {
    expect(story('a', [shown('working'), shown('blocked', 'quota')]).at(-1)).toBe('answered');
    expect(story('a', [shown('working'), shown('blocked', 'error')]).at(-1)).toBe('answered');
  });
  test.each([
    ['an end of a turn before it', [finished, shown('done'), shown('idle')]],
    ['a dialog of the program', [shown('blocked', 'trust'), shown('blocked', 'login')]],
    ['a longer prompt', [started('do it again'), shown('working')]],
    ['a shorter prompt', [started('do'), shown('working')]],
    ['work on something else', [started('what a person typed'), shown('working'), shown('done'), finished]],
    ['what a tool said to the agent', [started('what a person typed'), started('')]],
  ])('is not accepted by %s', (_what, news) => {
    expect(story('do it', news).at(-1)).toBe('written');
  });
  test('is accepted behind something else', () => {
    expect(story('do it', [started('other'), shown('working'), started('do it'), finished])).toEqual([
      'written',
      'written',
      'accepted',
      'answered',
    ]);
  });
  test.each([
    ['two\r\nlines  and\ttabs', 'two\nlines and tabs '],
    ['with \u001b[31mred', 'with <ESC>[31mred'],
    ['x'.repeat(9_000), `${'x'.repeat(1_000)}…`],
    ['!!!', '...'],
    ['Жираф 猫', 'Жираф\n猫'],
  ])('is known again though the agent tells it in other words for blanks and controls: %j', (text, told) => {
    expect(story(text, [started(told)])).toEqual(['accepted']);
  });
});
