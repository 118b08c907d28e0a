/**
 * Which processes belong to a session: nothing that is ours may be left out, nothing else may ever be in. The answer
 * grows from proofs only: the root when pid and start match, and whatever carries the session's marker in its
 * environment. From these it follows descent, and the kernel sessions and groups that they lead.
 *
 * Never a member: pid 1, this process, its ancestors, and a Roost daemon with all that descends from it, unless it is
 * the root itself. Numbers are reused, so a child older than its parent is no child, and a group or kernel session
 * named after the root counts only while no other process has taken that pid.
 */
import { readProcessTable, processSource } from './table.ts';
import {
  isZombie,
  startOrder,
  type ProcessEntry,
  type ProcessMarkers,
  type ProcessTable,
} from './process-entry.ts';

export interface Membership {
  readonly rootPid: number;
  readonly rootStart: string;
  readonly sessionId: string;
  /** Also look into environments: finds what left the tree and its groups, even when the root is gone. */
  readonly thorough: boolean;
}

export interface Scene {
  readonly selfPid: number;
  readonly markersOf: (pid: number) => ProcessMarkers;
}

/** Members from the root down; zombies are left out. @throws when the system refuses to tell about its processes. */
export function sessionMembers(options: {
  readonly rootPid: number;
  readonly rootStart: string;
  readonly sessionId: string;
  readonly table?: ProcessTable;
  readonly thorough?: boolean;
}): ProcessEntry[] {
  const { table = readProcessTable(), thorough = false } = options;
  return planMembers(
    table,
    { ...options, thorough },
    { selfPid: process.pid, markersOf: processSource.markers() },
  );
}

export function planMembers(table: ProcessTable, membership: Membership, scene: Scene): ProcessEntry[] {
  const { rootPid, rootStart, sessionId, thorough } = membership;
  const untouchable = lineage(table, scene.selfPid).add(0).add(1);
  const markersOf = remember(scene.markersOf);
  const holder = table.get(rootPid);
  const root = holder?.start === rootStart && !untouchable.has(rootPid) ? holder : null;
  const isFenced = fences(table, { root, untouchable, markersOf });

  const members = new Map<number, ProcessEntry>();
  const admit = (entry: ProcessEntry) => {
    if (members.has(entry.pid) || untouchable.has(entry.pid) || isFenced(entry)) return;
    members.set(entry.pid, entry);
  };

  if (root !== null) admit(root);
  if (thorough) {
    const rootOrder = startOrder(rootStart);
    for (const entry of table.values()) {
      // Reading an environment is the dear part, and what was there before the root inherited nothing from it.
      if (startOrder(entry.start) < rootOrder || untouchable.has(entry.pid)) continue;
      if (markersOf(entry.pid).sessionId === sessionId) admit(entry);
    }
  }

  const children = groupBy(table, (entry) => entry.parentPid);
  const kernelSessions = groupBy(table, (entry) => entry.sessionId);
  const groups = groupBy(table, (entry) => entry.groupId);
  // While a group or session lives, the kernel gives its number to no new process.
  const rootNumberIsOurs = root !== null || holder === undefined;
  const leads = (entry: ProcessEntry, number: number) =>
    number === entry.pid || (rootNumberIsOurs && number === rootPid);

  // A Map is walked in insertion order, entries added on the way included.
  for (const entry of members.values()) {
    for (const child of children.get(entry.pid) ?? []) if (!isOlder(child, entry)) admit(child);
    if (leads(entry, entry.sessionId)) kernelSessions.get(entry.sessionId)?.forEach(admit);
    if (leads(entry, entry.groupId)) groups.get(entry.groupId)?.forEach(admit);
  }
  return [...members.values()].filter((entry) => !isZombie(entry));
}

function isOlder(one: ProcessEntry, other: ProcessEntry): boolean {
  return startOrder(one.start) < startOrder(other.start);
}

/** A process and its ancestors. */
function lineage(table: ProcessTable, pid: number): Set<number> {
  const pids = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && !pids.has(at); at = table.get(at)?.parentPid)
    pids.add(at);
  return pids;
}

/** Tells whether a process is a Roost daemon below the root, or descends from one. */
function fences(
  table: ProcessTable,
  scene: {
    readonly root: ProcessEntry | null;
    readonly untouchable: ReadonlySet<number>;
    readonly markersOf: (pid: number) => ProcessMarkers;
  },
): (entry: ProcessEntry) => boolean {
  const known = new Map<number, boolean>();
  return (entry) => {
    const path: number[] = [];
    let at: ProcessEntry | undefined = entry;
    let fenced = false;
    while (
      at !== undefined &&
      at !== scene.root &&
      !scene.untouchable.has(at.pid) &&
      !path.includes(at.pid)
    ) {
      const earlier = known.get(at.pid);
      fenced = earlier ?? scene.markersOf(at.pid).roostProcess;
      path.push(at.pid);
      if (earlier !== undefined || fenced) break;
      const parent: ProcessEntry | undefined = table.get(at.parentPid);
      at = parent !== undefined && isOlder(at, parent) ? undefined : parent;
    }
    for (const pid of path) known.set(pid, fenced);
    return fenced;
  };
}

function remember<Value>(read: (pid: number) => Value): (pid: number) => Value {
  const known = new Map<number, Value>();
  return (pid) => {
    const earlier = known.get(pid);
    if (earlier !== undefined) return earlier;
    const value = read(pid);
    known.set(pid, value);
    return value;
  };
}

function groupBy(table: ProcessTable, key: (entry: ProcessEntry) => number): Map<number, ProcessEntry[]> {
  const groups = new Map<number, ProcessEntry[]>();
  for (const entry of table.values()) {
    const group = groups.get(key(entry));
    if (group === undefined) groups.set(key(entry), [entry]);
    else group.push(entry);
  }
  return groups;
}
