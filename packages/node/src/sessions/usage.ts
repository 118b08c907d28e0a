// CPU and memory of sessions' process trees. Percent is measured since the last look, whoever took it; the first one counts
// from the start of the session.
import { readProcessTable, sessionMembers, treeUsage } from '@roost/keeper/processes';
import type { SessionUsage } from '@roost/protocol';
import type { SessionRow } from './session-table.ts';

interface Look {
  readonly at: number;
  readonly cpuMs: number;
  readonly cpuPercent: number;
}

/** Milliseconds below which two looks are too near for a quotient: the earlier percentage stands. */
const INTERVAL_MS_MIN = 250;

export class UsageMeter {
  readonly #looks = new Map<string, Look>();

  /** Usage by session id; sessions without a known process are left out. */
  measure(rows: readonly SessionRow[]): Map<string, SessionUsage> {
    const now = Date.now();
    const table = readProcessTable();
    const usage = new Map<string, SessionUsage>();
    for (const { id, pid, process_start: rootStart, created_at: createdAt } of rows) {
      if (pid === null || rootStart === null) continue;
      const members = sessionMembers({ rootPid: pid, rootStart, sessionId: id, table });
      const { cpuMs, residentBytes, processes } = treeUsage(table, members);
      const look = this.#look(id, { now, cpuMs, createdAt });
      usage.set(id, { processes, residentBytes, cpuPercent: look.cpuPercent });
    }
    for (const id of this.#looks.keys()) if (!usage.has(id)) this.#looks.delete(id);
    return usage;
  }

  #look(id: string, { now, cpuMs, createdAt }: { now: number; cpuMs: number; createdAt: number }): Look {
    const last = this.#looks.get(id) ?? { at: createdAt, cpuMs: 0, cpuPercent: 0 };
    const elapsed = now - last.at;
    if (elapsed < INTERVAL_MS_MIN && this.#looks.has(id)) return last;
    // Processes that ended take their time with them; a clock may have been set back.
    const percent = elapsed <= 0 ? 0 : Math.max(0, ((cpuMs - last.cpuMs) / elapsed) * 100);
    const look = { at: now, cpuMs, cpuPercent: Math.round(percent * 10) / 10 };
    this.#looks.set(id, look);
    return look;
  }
}
