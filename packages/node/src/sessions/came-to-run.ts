import type { SessionStatus } from '@roost/protocol';

/** What of a session tells whether it ever ran. */
export interface RunFacts {
  readonly pid: number | null;
  readonly status: SessionStatus;
}

/** null: nobody knows yet. A session whose process was seen has run; one that is gone or ended without one has not. */
export function cameToRun(row: RunFacts | null): boolean | null {
  if (row === null) return false;
  if (row.pid !== null) return true;
  switch (row.status) {
    case 'starting':
    case 'stopping':
      return null;
    case 'running':
    case 'exited':
      return true;
    case 'failed':
    case 'lost':
      return false;
  }
}
