import { Activity } from '@roost/protocol';

/** null when there is none, or none that we understand. */
export function parseActivity(column: string | null): Activity | null {
  if (column === null) return null;
  try {
    return Activity.safeParse(JSON.parse(column)).data ?? null;
  } catch {
    return null;
  }
}
