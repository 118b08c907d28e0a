/** Order statistics over small samples; nothing is averaged, so one disturbed run cannot move a result much. */

/** Nearest-rank percentile, `share` from 0 to 1. Throws on no samples: a missing measurement is not a zero. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((one, other) => one - other);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new Error('no samples');
  return value;
}

/** The middle value, or what lies between the two middle ones. */
export function median(samples: readonly number[]): number {
  const below = percentile(samples, 0.5);
  if (samples.length % 2 === 1) return below;
  return (below + percentile(samples, 0.5 + 1 / samples.length)) / 2;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spread(samples: readonly number[]): Spread {
  return { median: median(samples), min: percentile(samples, 0), max: percentile(samples, 1) };
}
