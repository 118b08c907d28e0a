import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { LeaseState, WorktreeRetention } from '@roost/protocol';
import { nextStanding, type LeaseNews, type LeaseStanding } from './lease-states.ts';

const News: fc.Arbitrary<LeaseNews> = fc.oneof(
  fc.constant<LeaseNews>({ kind: 'prepared' }),
  fc.boolean().map((any): LeaseNews => ({ kind: 'holders', any })),
  fc.constant<LeaseNews>({ kind: 'blocked', failure: 'worktree-dirty' }),
  fc.constant<LeaseNews>({ kind: 'doubted', failure: 'worktree-not-owned' }),
  fc.boolean().map((held): LeaseNews => ({ kind: 'settled', held })),
  fc.constant<LeaseNews>({ kind: 'ended', outcome: 'removed' }),
);

it('after any news, a lease is in a state that its news allow, and a removed one stays removed', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...WorktreeRetention.options),
      fc.array(News, { maxLength: 40 }),
      (retention, all) => {
        let standing: LeaseStanding = { state: 'allocating', failure: null, retention };
        for (const news of all) {
          const before = standing;
          const next = nextStanding(before, news);
          if (next !== null) {
            standing = { ...before, ...next };
          }
          const { state, failure } = standing;
          if (before.state === 'removed') expect(standing).toEqual(before);
          // A reason exactly where a person may have to act.
          expect(failure !== null).toBe(state === 'cleanup-blocked' || state === 'recovery-required');
          // Only what is made can be used, and only holders make it so.
          if (state === 'in-use' && before.state !== 'in-use')
            expect(['holders', 'settled']).toContain(news.kind);
          if (before.state === 'allocating' && state === 'in-use')
            expect(news).toEqual({ kind: 'settled', held: true });
          // What is in doubt becomes usable by evidence alone.
          if (before.state === 'recovery-required' && state !== before.state) {
            expect(['settled', 'ended', 'blocked']).toContain(news.kind);
          }
          if (state === 'retained') expect(retention).toBe('retain');
        }
      },
    ),
  );
});

it('the same news twice is no news, for what only looks', () => {
  for (const state of LeaseState.options) {
    for (const news of [
      { kind: 'holders', any: true },
      { kind: 'holders', any: false },
      { kind: 'settled', held: true },
      { kind: 'settled', held: false },
    ] as const) {
      const first = nextStanding({ state, failure: null, retention: 'retain' }, news);
      if (first !== null) expect(nextStanding({ ...first, retention: 'retain' }, news)).toBeNull();
    }
  }
});
