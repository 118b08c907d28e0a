import { describe, expect, it } from 'vitest';
import { placeSession } from './placement.ts';

const keepers = (...sessions: number[]) =>
  sessions.map((count, index) => ({ id: `k${index}`, sessions: count }));

describe('placing a session', () => {
  it.each([
    ['no keeper: one is started', keepers(), 4, { keeperId: null, startAnother: true }],
    ['room in the only one: it is used', keepers(3), 4, { keeperId: 'k0', startAnother: false }],
    [
      'the only one busy: another is started, nobody waits for it',
      keepers(4),
      4,
      { keeperId: 'k0', startAnother: true },
    ],
    ['one of two busy: the other is used', keepers(9, 1), 4, { keeperId: 'k1', startAnother: false }],
    [
      'all busy and as many as may be: the least busy',
      keepers(9, 6, 7),
      3,
      { keeperId: 'k1', startAnother: false },
    ],
    ['equally busy: the first', keepers(5, 5), 2, { keeperId: 'k0', startAnother: false }],
  ])('%s', (_, serving, keepersMax, expected) => {
    expect(placeSession(serving, keepersMax)).toEqual(expected);
  });
});
