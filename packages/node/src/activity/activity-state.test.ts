import { describe, expect, test } from 'vitest';
import type { Activity } from '@roost/protocol';
import {
  acknowledge,
  interruptSent,
  look,
  newFacts,
  restoredFacts,
  settle,
  settlesIn,
  tell,
  type ActivityFacts,
  type Signal,
} from './activity-state.ts';

const approval: Signal = { kind: 'blocked', reason: 'approval', authority: null, detail: null };
const trust: Signal = { kind: 'blocked', reason: 'trust', authority: null, detail: null };
const signals: Readonly<Record<string, Signal>> = {
  starting: { kind: 'starting' },
  working: { kind: 'working' },
  composer: { kind: 'composer' },
  finished: { kind: 'finished', interrupted: false },
  interrupted: { kind: 'finished', interrupted: true },
  approval,
  trust,
  quota: { kind: 'blocked', reason: 'quota', authority: 'provider-quota', detail: null },
};

/**
 * A story line by line: `<ms> see|title|tell <signal>`, `<ms> interrupt`, `<ms> acknowledge`, and what is shown after it and once
 * everything has settled until the next line.
 */
function story(lines: readonly (readonly [at: number, what: string, shown: string])[]): void {
  let facts: ActivityFacts = newFacts(0);
  lines.forEach(([at, what, shown], index) => {
    facts = settleUntil(facts, at);
    const [verb, name = ''] = what.split(' ');
    const signal = signals[name];
    if (verb === 'title' && signal !== undefined) facts = look(facts, { source: 'terminal', signal }, at);
    if (verb === 'see') facts = look(facts, signal === undefined ? null : { source: 'screen', signal }, at);
    if (verb === 'tell' && signal !== undefined) facts = tell(facts, 'hooks', signal, at);
    if (verb === 'interrupt') facts = interruptSent(facts);
    if (verb === 'acknowledge') facts = acknowledge(facts, at);
    const { state, reason } = facts.shown;
    expect(reason === null ? state : `${state} ${reason}`, `line ${index}: ${at} ${what}`).toBe(shown);
  });
}

/** As timers would: settles whenever that is due. */
function settleUntil(facts: ActivityFacts, end: number): ActivityFacts {
  for (let now = facts.shown.since; ;) {
    const wait = settlesIn(facts, now);
    if (wait === null || now + wait > end) return facts;
    now += wait;
    facts = settle(facts, now);
  }
}

describe('looks alone', () => {
  test('a start with a trust dialog, a turn with an approval, its end, and somebody who sees it', () => {
    story([
      [100, 'see trust', 'starting'],
      [500, 'see trust', 'blocked trust'],
      [2_000, 'see nothing', 'blocked trust'],
      [2_100, 'see composer', 'blocked trust'],
      [3_000, 'see composer', 'ready'],
      [5_000, 'see working', 'working'],
      [6_000, 'see approval', 'working'],
      [6_400, 'see approval', 'blocked approval'],
      [9_000, 'see working', 'working'],
      [12_000, 'see composer', 'working'],
      [12_800, 'see composer', 'done'],
      [60_000, 'see composer', 'done'],
      [61_000, 'acknowledge', 'idle'],
      [70_000, 'see composer', 'idle'],
      [71_000, 'see working', 'working'],
    ]);
  });
  test('a composer that shows for a moment between two frames of work is none', () => {
    story([
      [0, 'see working', 'working'],
      [200, 'see composer', 'working'],
      [400, 'see working', 'working'],
      [5_000, 'see working', 'working'],
    ]);
  });
  test('without another look, what holds is shown by itself', () => {
    story([
      [0, 'see working', 'working'],
      [1_000, 'see composer', 'working'],
      [1_701, 'nothing', 'done'],
    ]);
  });
  test('a title that spins while the program starts is no turn', () => {
    story([
      [0, 'title working', 'starting'],
      [2_000, 'see trust', 'starting'],
      [2_300, 'see trust', 'blocked trust'],
      [3_000, 'title working', 'starting'],
      [5_000, 'see composer', 'starting'],
      [6_000, 'nothing', 'ready'],
      [7_000, 'title working', 'working'],
      [9_000, 'see composer', 'working'],
      [10_000, 'nothing', 'done'],
    ]);
  });
  test('a turn that a person ended through us leaves nothing to look at', () => {
    story([
      [0, 'see working', 'working'],
      [500, 'interrupt', 'working'],
      [1_000, 'see composer', 'working'],
      [2_000, 'nothing', 'idle'],
      [3_000, 'see working', 'working'],
      [4_000, 'see composer', 'working'],
      [5_000, 'nothing', 'done'],
    ]);
  });
  test.each([
    ['has had no turn yet', 'see composer', 'ready'],
    ['is done', 'tell finished', 'done'],
    ['has reached a limit', 'tell quota', 'blocked quota'],
  ])('an interrupt while it %s says nothing about the next turn', (_when, before, shown) => {
    story([
      [0, before, before === 'see composer' ? 'starting' : shown],
      [1_000, 'nothing', shown],
      [1_100, 'interrupt', shown],
      [2_000, 'tell working', 'working'],
      [3_000, 'tell finished', 'done'],
    ]);
  });
});

describe("the agent's own word", () => {
  test('counts at once', () => {
    story([
      [0, 'tell working', 'working'],
      [10, 'tell approval', 'blocked approval'],
      [20, 'tell working', 'working'],
      [30, 'tell finished', 'done'],
    ]);
  });
  test('outlives a look that disagrees for less than it takes', () => {
    story([
      [0, 'see composer', 'starting'],
      [1_000, 'see composer', 'ready'],
      [2_000, 'tell working', 'working'],
      [4_000, 'see composer', 'working'],
      [4_500, 'see working', 'working'],
      [9_000, 'see composer', 'working'],
      [11_000, 'see composer', 'working'],
    ]);
  });
  test('is missing when a person interrupts at the screen: the look decides after a while', () => {
    story([
      [0, 'tell working', 'working'],
      [1_000, 'see working', 'working'],
      [2_000, 'see composer', 'working'],
      [5_001, 'nothing', 'done'],
    ]);
  });
  test('does not know dialogs of the program: the look shows them soon', () => {
    story([
      [0, 'tell working', 'working'],
      [1_000, 'see trust', 'working'],
      [1_501, 'nothing', 'blocked trust'],
    ]);
  });
  test('that it works outlives the composer of before, which is drawn for a while yet', () => {
    story([
      [0, 'see composer', 'starting'],
      [1_000, 'see composer', 'ready'],
      [2_000, 'tell working', 'working'],
      [7_000, 'see composer', 'working'],
      [12_001, 'nothing', 'done'],
    ]);
  });
  test('that an answer was given outlives the dialog that is still drawn', () => {
    story([
      [0, 'tell approval', 'blocked approval'],
      [100, 'see approval', 'blocked approval'],
      [1_000, 'tell working', 'working'],
      [1_900, 'see approval', 'working'],
      [2_100, 'see working', 'working'],
      [5_000, 'see approval', 'working'],
      [7_001, 'nothing', 'blocked approval'],
    ]);
  });
  test('that a limit is reached stands beside a composer, until the next turn', () => {
    story([
      [0, 'tell working', 'working'],
      [1_000, 'tell quota', 'blocked quota'],
      [1_100, 'see composer', 'blocked quota'],
      [60_000, 'see composer', 'blocked quota'],
      [61_000, 'tell working', 'working'],
    ]);
  });
  test('says that it was interrupted', () => {
    story([
      [0, 'tell working', 'working'],
      [10, 'tell interrupted', 'idle'],
    ]);
  });
});

test('after a restart of the node, a finished turn is not news again, a running one still ends, a dialog was none', () => {
  const at = (state: Activity['state'], reason: Activity['reason'] = null) =>
    restoredFacts({
      state,
      source: 'screen',
      since: new Date(0).toISOString(),
      reason,
      authority: null,
      detail: null,
    });
  const later = (facts: ActivityFacts) =>
    settle(look(facts, { source: 'screen', signal: { kind: 'composer' } }, 1_000), 5_000).shown.state;
  expect(later(at('working'))).toBe('done');
  expect(later(at('idle'))).toBe('idle');
  expect(later(at('ready'))).toBe('ready');
  expect(later(at('blocked', 'approval'))).toBe('done');
  expect(later(at('blocked', 'trust'))).toBe('ready');
});
