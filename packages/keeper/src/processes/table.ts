/** The processes of this machine as one synchronous snapshot. Not atomic: a process may come or go while it is taken. */
import { psSource } from './ps-source.ts';
import { procSource } from './proc-source.ts';
import type { ProcessSource, ProcessTable } from './process-entry.ts';

/** How this platform tells about its processes. */
export const processSource: ProcessSource = process.platform === 'linux' ? procSource : psSource;

/** All processes, or those of the given pids that exist. @throws when the system refuses to tell. */
export function readProcessTable(pids?: readonly number[]): ProcessTable {
  return processSource.entries(pids);
}

/** The identity beside the pid; null when there is no such process (a zombie still is one). */
export function processStart(pid: number): string | null {
  return processSource.entries([pid]).get(pid)?.start ?? null;
}
