/**
 * When a limit ends, out of the sentence that tells it. Seen: `...|1749924000` and `resets 3pm (Europe/Berlin)` (Claude Code),
 * `try again at 3:45 PM`, `at Jun 5th, 2026 3:45 PM` and `in 2 days 3 hours` (Codex), `retry in 53.5s` (Gemini). null when it tells nothing.
 */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Further away than this is no reset but a misread number. */
const HORIZON_MS = 400 * DAY_MS;
/** A sentence longer than this is not read to its end. */
const READ_UNITS = 2_048;

const UNITS: Readonly<Record<string, number>> = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS };
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** `now` in milliseconds since 1970. */
export function resetTimeOf(sentence: string, now: number): string | null {
  const text = sentence.slice(0, READ_UNITS);
  return (
    resetTimeOfNumber(/\|\s*(\d{10,13})\b/.exec(text)?.[1], now) ??
    isoTime(text, now) ??
    relativeTime(text, now) ??
    clockTime(text, now)
  );
}

/** Seconds or milliseconds since 1970. */
export function resetTimeOfNumber(value: number | string | null | undefined, now: number): string | null {
  if (value === null || value === undefined) return null;
  const number = Number(value);
  return nearTime(number < 1e11 ? number * SECOND_MS : number, now);
}

function nearTime(time: number, now: number): string | null {
  return Number.isFinite(time) && Math.abs(time - now) <= HORIZON_MS
    ? new Date(Math.round(time)).toISOString()
    : null;
}

function isoTime(text: string, now: number): string | null {
  const found = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)/.exec(text)?.[0];
  return found === undefined ? null : nearTime(Date.parse(found), now);
}

function relativeTime(text: string, now: number): string | null {
  const amount = '\\d{1,6}(?:\\.\\d{1,6})?\\s?(?:days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|[dhms])\\b';
  const found = new RegExp(
    `\\b(?:in|after)\\s+(${amount}(?:(?:,|\\sand|,\\sand)?\\s?${amount}){0,3})`,
    'i',
  ).exec(text)?.[1];
  if (found === undefined) return null;
  let wait = 0;
  for (const [, count, unit] of found.matchAll(/([\d.]+)\s?([dhms])/gi)) {
    wait += Number(count) * (UNITS[(unit ?? '').toLowerCase()] ?? 0);
  }
  return wait > 0 ? nearTime(now + wait, now) : null;
}

/** A time of the day, with the month and day where it is not today or tomorrow, in a zone that is named or in ours. */
function clockTime(text: string, now: number): string | null {
  const found =
    /\b(?:at|resets?(?: at| on)?)\s+(?:([A-Z][a-z]{2})[a-z]*\s(\d{1,2})(?:st|nd|rd|th)?,?\s(?:(\d{4}),?\s)?(?:at\s)?)?(\d{1,2})(?::(\d\d))?\s?([ap]m)\b(?:\s\(([A-Za-z_]+(?:\/[A-Za-z_+-]+){0,2})\))?/i.exec(
      text,
    );
  if (found === null) return null;
  const [, monthName, day, year, hour, minute, half, zone] = found;
  if (Number(hour) < 1 || Number(hour) > 12 || Number(minute ?? 0) > 59) return null;
  const hours = (Number(hour) % 12) + ((half ?? '').toLowerCase() === 'pm' ? 12 : 0);
  const offset = zoneOffset(zone, now);
  if (offset === null) return null;
  const here = new Date(now + offset);
  const month = monthName === undefined ? here.getUTCMonth() : MONTHS.indexOf(monthName.toLowerCase());
  if (month < 0) return null;
  const at = (inYear: number, onDay: number) =>
    Date.UTC(inYear, month, onDay, hours, Number(minute ?? 0)) - offset;
  const time = at(Number(year ?? here.getUTCFullYear()), Number(day ?? here.getUTCDate()));
  if (time > now || year !== undefined) return nearTime(time, now);
  return nearTime(monthName === undefined ? time + DAY_MS : at(here.getUTCFullYear() + 1, Number(day)), now);
}

/** Milliseconds to add to UTC; null for a zone that nobody knows. */
function zoneOffset(zone: string | undefined, now: number): number | null {
  if (zone === undefined) return -new Date(now).getTimezoneOffset() * MINUTE_MS;
  try {
    const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
      .formatToParts(now)
      .find(({ type }) => type === 'timeZoneName')?.value;
    const [, sign, hours, minutes] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(parts ?? '') ?? [];
    const size = Number(hours ?? 0) * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS;
    return sign === '-' ? -size : size;
  } catch {
    return null;
  }
}
