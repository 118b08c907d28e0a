/**
 * The process table through `ps`, for systems without /proc. Its start has a resolution of one second, and environments
 * are known only as far as `ps` shows them (own user, not for protected programs) and only as text behind the arguments:
 * an argument that looks like a marker counts as one. One `ps` answers a whole scan.
 */
import { execFileSync } from 'node:child_process';
import { ROOST_PROCESS_MARKER, SESSION_MARKER } from './markers.ts';
import {
  NO_MARKERS,
  type ProcessEntry,
  type ProcessMarkers,
  type ProcessSource,
  type ProcessTable,
} from './process-entry.ts';

const PS = '/bin/ps';
const TIMEOUT_MS = 3_000;
const OUTPUT_BYTES_MAX = 32 * 1024 * 1024;
const COLUMNS = 'pid=,ppid=,pgid=,sess=,state=,lstart=,time=,rss=,comm=';

export const psSource: ProcessSource = {
  entries(pids) {
    if (pids?.length === 0) return new Map();
    return parsePsTable(
      ps([...(pids === undefined ? ['-ax'] : ['-p', pids.join(',')]), '-ww', '-o', COLUMNS]),
    );
  },
  markers() {
    let all: ReadonlyMap<number, ProcessMarkers> | null = null;
    return (pid) => {
      all ??= parsePsEnvironments(ps(['axeww', '-o', 'pid=,command=']));
      return all.get(pid) ?? NO_MARKERS;
    };
  },
};

/** Start dates must read the same from every process that compares them: fixed language and time zone. */
function ps(parameters: readonly string[]): string {
  try {
    return execFileSync(PS, parameters, {
      encoding: 'utf8',
      timeout: TIMEOUT_MS,
      maxBuffer: OUTPUT_BYTES_MAX,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { LC_ALL: 'C', TZ: 'UTC' },
    });
  } catch (error) {
    // `ps -p` ends with 1 when none of the asked pids exists.
    const { status, stdout } = error as { status?: unknown; stdout?: unknown };
    if (status === 1 && typeof stdout === 'string') return stdout;
    throw error;
  }
}

const ROW =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+([A-Za-z?])\S*\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s+([\d:.-]+)\s+(\d+)\s+(.*)$/;

export function parsePsTable(text: string): ProcessTable {
  const table = new Map<number, ProcessEntry>();
  for (const line of text.split('\n')) {
    const [, pid, parentPid, groupId, session, state, start, time, residentKib, name] = ROW.exec(line) ?? [];
    if (pid === undefined || session === undefined || start === undefined || time === undefined) continue;
    table.set(Number(pid), {
      pid: Number(pid),
      parentPid: Number(parentPid),
      groupId: Number(groupId),
      // Where this is an address in the kernel, it says nothing here.
      sessionId: /^\d+$/.test(session) ? Number(session) : 0,
      start: start.replace(/\s+/g, ' '),
      state: state ?? '',
      name: name ?? '',
      cpuMs: parseCpuTime(time),
      residentBytes: Number(residentKib) * 1024,
    });
  }
  return table;
}

/** `[days-][hours:]minutes:seconds[.hundredths]` */
export function parseCpuTime(text: string): number {
  const [days, clock] = text.includes('-') ? text.split('-') : ['0', text];
  const seconds = (clock ?? '').split(':').reduce((total, part) => total * 60 + Number(part), 0);
  return Math.round((Number(days) * 86_400 + seconds) * 1000);
}

export function parsePsEnvironments(text: string): ReadonlyMap<number, ProcessMarkers> {
  const session = new RegExp(`\\s${SESSION_MARKER}=(\\S*)`);
  const roost = new RegExp(`\\s${ROOST_PROCESS_MARKER}=`);
  const all = new Map<number, ProcessMarkers>();
  for (const line of text.split('\n')) {
    const pid = Number.parseInt(line, 10);
    if (Number.isNaN(pid)) continue;
    const sessionId = session.exec(line)?.[1] ?? null;
    const roostProcess = roost.test(line);
    if (sessionId !== null || roostProcess) all.set(pid, { sessionId, roostProcess });
  }
  return all;
}
