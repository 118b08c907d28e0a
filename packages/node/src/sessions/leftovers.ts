// Processes of a session that outlived its root or its keeper. Only what is proven to belong to the session is ended: by the
// root's identity, by descent, or by the session's marker in the environment.
import { endProcesses, sessionMembers, type EndOutcome } from '@roost/keeper/processes';
import type { SessionRow } from './session-table.ts';

/** null when no process was ever seen. */
export async function endLeftovers(
  row: Pick<SessionRow, 'id' | 'pid' | 'process_start'>,
  graceMs: number,
): Promise<EndOutcome | null> {
  const { id, pid, process_start: rootStart } = row;
  if (pid === null || rootStart === null) return null;
  return endProcesses({
    find: () => sessionMembers({ rootPid: pid, rootStart, sessionId: id, thorough: true }),
    graceMs,
    politeSignals: ['SIGTERM', 'SIGHUP'],
  });
}
