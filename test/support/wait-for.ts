import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds between two looks: soon at first, then seldom enough to leave the processor to what is waited for. */
const LOOK_MS = { first: 10, factor: 1.5, last: 100 };

/**
 * Waits until `probe` gives something other than undefined, null or false. On the deadline throws with what was waited
 * for and what `state` (or the last value) says.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | Promise<T>,
  options: { timeoutMs?: number; everyMs?: number; state?: () => unknown } = {},
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = Date.now() + (options.timeoutMs ?? 15_000);
  let last: unknown;
  let pause = options.everyMs ?? LOOK_MS.first;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== null && value !== false)
      return value as Exclude<T, undefined | null | false>;
    last = value;
    if (Date.now() > deadline) {
      const state = options.state === undefined ? last : await options.state();
      throw new Error(`waited in vain for ${what}; state: ${JSON.stringify(state, null, 2)}`);
    }
    await delay(pause);
    pause = options.everyMs ?? Math.min(pause * LOOK_MS.factor, LOOK_MS.last);
  }
}
