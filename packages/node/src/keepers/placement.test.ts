import { describe, expect, it } from 'vitest';
import { placeSession, surplusKeepers } from './placement.ts';

const keepers = (...sessions: number[]) =>
  sessions.map((count, index) => ({ id: `k${index}`, sessions: count }));

describe('placing a session', () => {
  it.each([
    ['no keeper: one is started', keepers(), 4, { keeperId: null, startAnother: 'now' }],
    ['room in the only one: it is used', keepers(2), 4, { keeperId: 'k0', startAnother: 'no' }],
    [
      'the last place of the only one: another is started beside',
      keepers(3),
      4,
      { keeperId: 'k0', startAnother: 'ahead' },
    ],
    ['the only one busy: another is started first', keepers(4), 4, { keeperId: 'k0', startAnother: 'now' }],
    ['one of two busy: the other is used', keepers(9, 1), 4, { keeperId: 'k1', startAnother: 'no' }],
    [
      'all busy and as many as may be: the least busy',
      keepers(9, 6, 7),
      3,
      { keeperId: 'k1', startAnother: 'no' },
    ],
    ['equally busy: the first', keepers(5, 5), 2, { keeperId: 'k0', startAnother: 'no' }],
  ])('%s', (_, serving, keepersMax, expected) => {
    expect(placeSession(serving, keepersMax)).toEqual(expected);
  });
});

describe('letting keepers go', () => {
  const idle = (...loads: [sessions: number, idleMs: number][]) =>
    loads.map(([sessions, idleMs], index) => ({ id: `k${index}`, sessions, idleMs }));

  it.each([
    ['the last one stays, however idle', idle([0, 1e9]), []],
    ['one of two idle ones goes', idle([0, 1e9], [0, 1e9]), ['k0']],
    ['one that was idle for a moment stays', idle([0, 1_000], [1, 0]), []],
    ['one idle beside one with room goes', idle([2, 0], [0, 1e9]), ['k1']],
    ['one idle beside busy ones stays', idle([3, 0], [0, 1e9]), []],
    ['all idle but one go', idle([0, 1e9], [0, 1e9], [0, 1e9]), ['k0', 'k1']],
  ])('%s', (_, serving, expected) => {
    expect(surplusKeepers(serving)).toEqual(expected);
  });
});
