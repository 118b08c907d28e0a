// How often a working tree is looked at: soon after something happened there, ever more rarely while nothing does, and never so often
// that looking takes more than its share of the machine.

/** Milliseconds between two looks at one workspace, at least and at most. The least is also what lies between two events. */
export const LOOK_MS_MIN = 2_000;
export const LOOK_MS_MAX = 15_000;
/** Part of one core that looking may take, of all workspaces together; what the node does itself comes on top. */
const SHARE = 0.02;
/** Milliseconds that one look delays those at other workspaces, at most: a huge repository pays by its own pace. */
const PAUSE_MS_MAX = 10_000;

export interface Look {
  /** Milliseconds of processor time that it took. */
  readonly costMs: number;
  readonly foundNews: boolean;
  /** Whether anybody hears of news. */
  readonly isFollowed: boolean;
}

export interface Pace {
  /** Milliseconds from the start of the last look to the next one, as far as nothing is noticed. */
  readonly intervalMs: number;
  /** Milliseconds that lie between two looks whatever is noticed. */
  readonly leastMs: number;
}

/** Milliseconds that a look costs at least: less cannot be measured. */
const COST_MS_MIN = 15;

export const FIRST_PACE: Pace = { intervalMs: LOOK_MS_MIN, leastMs: LOOK_MS_MIN };

export function paceAfter(before: Pace, { costMs, foundNews, isFollowed }: Look): Pace {
  const leastMs = Math.max(LOOK_MS_MIN, costMs / SHARE);
  const wantedMs = foundNews ? LOOK_MS_MIN : Math.min(before.intervalMs * 2, LOOK_MS_MAX);
  return { intervalMs: Math.max(isFollowed ? wantedMs : LOOK_MS_MAX, leastMs), leastMs };
}

/** Milliseconds from the end of a look to the next one, of whatever workspace. */
export function pauseAfter({ costMs }: Pick<Look, 'costMs'>): number {
  return Math.min(costMs / SHARE, PAUSE_MS_MAX);
}

/** What a look cost, from the time of ended children before and after it; else from how long it took. */
export function costOf(before: number | null, after: number | null, tookMs: number): number {
  return Math.max(COST_MS_MIN, before === null || after === null ? tookMs : after - before);
}
