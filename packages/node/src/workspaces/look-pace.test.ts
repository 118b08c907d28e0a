import { describe, expect, it } from 'vitest';
import {
  costOf,
  FIRST_PACE,
  LOOK_MS_MAX,
  LOOK_MS_MIN,
  paceAfter,
  pauseAfter,
  type Pace,
} from './look-pace.ts';

const quiet = { costMs: 10, foundNews: false, isFollowed: true };

describe('the pace of looks', () => {
  it('slows down while nothing happens, to a bound, and is quick again after news', () => {
    const intervals: number[] = [];
    let pace: Pace = FIRST_PACE;
    for (let look = 0; look < 5; look += 1) {
      pace = paceAfter(pace, quiet);
      intervals.push(pace.intervalMs);
    }
    expect(intervals).toEqual([4_000, 8_000, LOOK_MS_MAX, LOOK_MS_MAX, LOOK_MS_MAX]);
    expect(paceAfter(pace, { ...quiet, foundNews: true }).intervalMs).toBe(LOOK_MS_MIN);
  });

  it('is slow when nobody hears of it, whatever happens', () => {
    expect(paceAfter(FIRST_PACE, { ...quiet, foundNews: true, isFollowed: false }).intervalMs).toBe(
      LOOK_MS_MAX,
    );
  });

  it.each([1, 10, 100, 1_000, 10_000])(
    'keeps looks of %d ms to their share of a core, in one workspace',
    (costMs) => {
      const { leastMs, intervalMs } = paceAfter(FIRST_PACE, { costMs, foundNews: true, isFollowed: true });
      expect(costMs / leastMs).toBeLessThanOrEqual(0.05);
      expect(intervalMs).toBeGreaterThanOrEqual(leastMs);
    },
  );

  it('keeps looks at many workspaces to that share too, and a huge one from stopping the others', () => {
    expect(30 / (30 + pauseAfter({ costMs: 30 }))).toBeLessThan(0.05);
    expect(pauseAfter({ costMs: 5_000 })).toBeLessThanOrEqual(10_000);
  });

  it('counts what git worked, else how long it took, and never nothing', () => {
    expect(costOf(100, 340, 9_000)).toBe(240);
    expect(costOf(null, 340, 9_000)).toBe(9_000);
    expect(costOf(100, 100, 9_000)).toBeGreaterThan(0);
  });
});
