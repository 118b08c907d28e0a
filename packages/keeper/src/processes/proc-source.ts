/**
 * The process table of Linux, read from /proc: no process is started, and one buffer serves every read. A process that
 * ends while being read is absent from the answer; any other trouble (no descriptors left, no /proc) is thrown, since
 * an empty answer would mean "nothing runs".
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { ROOST_PROCESS_MARKER, SESSION_MARKER } from './markers.ts';
import {
  NO_MARKERS,
  type ProcessEntry,
  type ProcessMarkers,
  type ProcessSource,
  type ProcessTable,
} from './process-entry.ts';

/** Fields of /proc/<pid>/stat after the name, counted from 0. */
const StatField = {
  state: 0,
  parentPid: 1,
  groupId: 2,
  sessionId: 3,
  userTicks: 11,
  systemTicks: 12,
  childrenUserTicks: 13,
  childrenSystemTicks: 14,
  startTicks: 19,
  residentPages: 21,
} as const;

const FIRST_READ_BYTES = 16 * 1024;
/** The kernel hands out no longer environment than a quarter of the largest stack limit that it lets exec use. */
const READ_BYTES_MAX = 8 * 1024 * 1024;
/** It ended, or its user did not let us look. */
const WITHOUT_ANSWER = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);

/** Keys of the auxiliary vector. */
const AUX_PAGE_BYTES = 6n;
const AUX_TICKS_PER_SECOND = 17n;

export const procSource: ProcessSource = {
  entries(pids) {
    const table = new Map<number, ProcessEntry>();
    for (const pid of pids ?? listedPids()) {
      const stat = readProcFile(`/proc/${pid}/stat`);
      const entry = stat === null ? null : parseProcStat(stat.toString('utf8'), kernelUnits());
      if (entry !== null) table.set(entry.pid, entry);
    }
    return table satisfies ProcessTable;
  },
  markers() {
    return (pid) => {
      const environment = readProcFile(`/proc/${pid}/environ`);
      return environment === null ? NO_MARKERS : parseProcEnvironment(environment);
    };
  },
};

export interface KernelUnits {
  readonly pageBytes: number;
  readonly msPerTick: number;
}

/** `pid (name) state ...`: the name may hold spaces, parentheses and line ends, so it ends at the last parenthesis. */
export function parseProcStat(text: string, units: KernelUnits): ProcessEntry | null {
  const nameStart = text.indexOf('(');
  const nameEnd = text.lastIndexOf(')');
  if (nameStart < 0 || nameEnd < nameStart) return null;
  const fields = text.slice(nameEnd + 2).split(' ');
  const number = (field: number) => Number(fields[field] ?? Number.NaN);
  const start = fields[StatField.startTicks];
  const pid = Number.parseInt(text, 10);
  if (start === undefined || !Number.isInteger(pid)) return null;
  const ticks =
    number(StatField.userTicks) +
    number(StatField.systemTicks) +
    number(StatField.childrenUserTicks) +
    number(StatField.childrenSystemTicks);
  return {
    pid,
    parentPid: number(StatField.parentPid),
    groupId: number(StatField.groupId),
    sessionId: number(StatField.sessionId),
    start,
    state: fields[StatField.state] ?? '',
    name: text.slice(nameStart + 1, nameEnd),
    cpuMs: ticks * units.msPerTick,
    residentBytes: Number(fields[StatField.residentPages] ?? 0) * units.pageBytes,
  };
}

/** Entries are separated by NUL; a marker counts only as an entry of its own, never inside another value. */
export function parseProcEnvironment(environment: Buffer): ProcessMarkers {
  return {
    sessionId: entryValue(environment, SESSION_MARKER),
    roostProcess: entryValue(environment, ROOST_PROCESS_MARKER) !== null,
  };
}

function entryValue(environment: Buffer, name: string): string | null {
  const needle = `${name}=`;
  for (let at = environment.indexOf(needle); at >= 0; at = environment.indexOf(needle, at + 1)) {
    if (at !== 0 && environment[at - 1] !== 0) continue;
    const end = environment.indexOf(0, at);
    return environment.toString('utf8', at + needle.length, end < 0 ? environment.length : end);
  }
  return null;
}

function listedPids(): number[] {
  const pids: number[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (Number.isInteger(pid)) pids.push(pid);
  }
  return pids;
}

let buffer = Buffer.allocUnsafeSlow(FIRST_READ_BYTES);

/** The bytes stay valid until the next read. */
function readProcFile(path: string): Buffer | null {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, 'r');
    let length = 0;
    for (;;) {
      const count = readSync(descriptor, buffer, length, buffer.length - length, null);
      length += count;
      if (count === 0 || buffer.length >= READ_BYTES_MAX) return buffer.subarray(0, length);
      if (length === buffer.length) {
        const larger = Buffer.allocUnsafeSlow(buffer.length * 2);
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
    }
  } catch (error) {
    if (WITHOUT_ANSWER.has((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

let units: KernelUnits | null = null;

/** Page size and clock ticks differ by machine; the kernel tells both in the auxiliary vector of every process. */
function kernelUnits(): KernelUnits {
  if (units !== null) return units;
  const vector = readFileSync('/proc/self/auxv');
  let pageBytes = 4096;
  let ticksPerSecond = 100;
  const values = new BigUint64Array(
    vector.buffer.slice(vector.byteOffset, vector.byteOffset + (vector.length & ~7)),
  );
  for (let at = 0; at + 1 < values.length; at += 2) {
    if (values[at] === AUX_PAGE_BYTES) pageBytes = Number(values[at + 1]);
    if (values[at] === AUX_TICKS_PER_SECOND) ticksPerSecond = Number(values[at + 1]);
  }
  units = { pageBytes, msPerTick: 1000 / ticksPerSecond };
  return units;
}
