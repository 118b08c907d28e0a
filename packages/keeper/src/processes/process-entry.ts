/**
 * What is known of one process at one moment. A pid alone names nothing: `pid` with `start` is the identity, and every
 * act on a process compares both.
 */
export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  /** Kernel session; 0 where the system does not tell. */
  readonly sessionId: number;
  /** Identity beside the pid: ticks since boot on Linux, the start date in UTC elsewhere. */
  readonly start: string;
  /** One letter, as `ps` shows it first: R running, S sleeping, T stopped, Z ended and not yet collected. */
  readonly state: string;
  readonly name: string;
  /** Processor time, on Linux with that of the children it has collected. */
  readonly cpuMs: number;
  readonly residentBytes: number;
}

export type ProcessTable = ReadonlyMap<number, ProcessEntry>;

/** What the first environment of a process says about its place in Roost. */
export interface ProcessMarkers {
  readonly sessionId: string | null;
  /** A Roost daemon, or started by one and not for a session. */
  readonly roostProcess: boolean;
}

/** One way to look at the processes of this machine. */
export interface ProcessSource {
  /** All processes, or those of the given pids that exist. @throws when the system refuses to tell. */
  entries(pids?: readonly number[]): ProcessTable;
  /** A reader for one scan; a process that is gone or may not be read has no markers. */
  markers(): (pid: number) => ProcessMarkers;
}

export const NO_MARKERS: ProcessMarkers = { sessionId: null, roostProcess: false };

/** Ended, but its parent has not collected it: nothing can be signalled any more. */
export function isZombie(entry: ProcessEntry): boolean {
  return entry.state === 'Z' || entry.state === 'X';
}

export function sameProcess(one: ProcessEntry | undefined, other: ProcessEntry): boolean {
  return one?.pid === other.pid && one.start === other.start;
}

/** A number that grows with the start time; NaN for text that is no start. */
export function startOrder(start: string): number {
  return /^\d+$/.test(start) ? Number(start) : Date.parse(`${start} UTC`);
}
