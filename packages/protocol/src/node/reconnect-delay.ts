/** When the next attempt at a line is made: later with each failure up to a ceiling, and never all sides at the same moment. */

/** Milliseconds: of the first pause, and of the longest. After a refusal it is the longest at once: somebody has to change something first. */
const FIRST_MS = 500;
const CEILING_MS = 30_000;
/** Milliseconds that a line must have lasted for its end not to count as a failure. */
export const REAL_UPTIME_MS = 10_000;

/** `failures`: in a row, at least 1. `random`: 0 to below 1. */
export function reconnectDelay(failures: number, isRefused: boolean, random: number): number {
  const whole = isRefused ? CEILING_MS : Math.min(CEILING_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16));
  return Math.round(whole * (0.5 + random / 2));
}
