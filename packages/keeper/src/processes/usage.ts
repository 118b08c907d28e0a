/** What the processes of a session use together. */
import { isZombie, sameProcess, type ProcessEntry, type ProcessTable } from './process-entry.ts';

export interface TreeUsage {
  readonly cpuMs: number;
  readonly residentBytes: number;
  readonly processes: number;
}

/** Members that the table no longer holds, or holds as another process, count nothing. */
export function treeUsage(table: ProcessTable, members: readonly ProcessEntry[]): TreeUsage {
  let cpuMs = 0;
  let residentBytes = 0;
  let processes = 0;
  for (const member of members) {
    const entry = table.get(member.pid);
    if (entry === undefined || !sameProcess(entry, member) || isZombie(entry)) continue;
    cpuMs += entry.cpuMs;
    residentBytes += entry.residentBytes;
    processes += 1;
  }
  return { cpuMs, residentBytes, processes };
}
