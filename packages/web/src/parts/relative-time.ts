// How long ago something was, in few words.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `now`, `12 s`, `5 min`, `3 h`, `2 d`: whole units, rounded down. Milliseconds; below zero counts as now. */
export function spanText(milliseconds: number): string {
  if (milliseconds < 5 * SECOND) return 'now';
  if (milliseconds < MINUTE) return `${Math.floor(milliseconds / SECOND)} s`;
  if (milliseconds < HOUR) return `${Math.floor(milliseconds / MINUTE)} min`;
  if (milliseconds < DAY) return `${Math.floor(milliseconds / HOUR)} h`;
  return `${Math.floor(milliseconds / DAY)} d`;
}

/** Milliseconds until `spanText` can say something else. */
export function spanChangesIn(milliseconds: number): number {
  const unit = milliseconds < MINUTE ? SECOND : milliseconds < HOUR ? MINUTE : HOUR;
  const shortest = milliseconds < MINUTE ? 5 * SECOND : unit;
  return Math.max(SECOND, Math.min(shortest, unit - (Math.max(0, milliseconds) % unit) + 50));
}
