// How long to wait before the next attempt at a hub: longer with each failure up to a ceiling, and never all nodes at the same moment.

/** Milliseconds. */
const FIRST_MS = 500;
const CEILING_MS = 30_000;
/** After a refusal: somebody has to change something first. */
const REFUSED_MS = 60_000;
/** Milliseconds that a call must have lasted for its end not to count as a failure. */
export const REAL_UPTIME_MS = 10_000;

/** `failures`: in a row, at least 1. `random`: 0 to below 1. */
export function reconnectDelay(failures: number, wasRefused: boolean, random: number): number {
  const whole = wasRefused ? REFUSED_MS : Math.min(CEILING_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16));
  return Math.round(whole * (0.5 + random / 2));
}
