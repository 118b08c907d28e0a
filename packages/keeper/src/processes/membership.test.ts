import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planMembers } from './membership.ts';
import { NO_MARKERS, startOrder, type ProcessEntry, type ProcessMarkers } from './process-entry.ts';
import { treeUsage } from './usage.ts';

const ROOT = 100;
const SELF = 50;
const OURS: ProcessMarkers = { sessionId: 's1', roostProcess: false };
const DAEMON: ProcessMarkers = { sessionId: null, roostProcess: true };

interface Row extends Partial<ProcessEntry> {
  readonly pid: number;
  readonly markers?: ProcessMarkers;
}

/** A machine with init, this process below a login shell, and the given rows; each starts at its pid unless told. */
function plan(rows: Row[], options: { thorough?: boolean; rootStart?: string; selfPid?: number } = {}) {
  const all: Row[] = [
    { pid: 1, parentPid: 0 },
    { pid: 40, parentPid: 1 },
    { pid: SELF, parentPid: 40, markers: DAEMON },
    ...rows,
  ];
  const table = new Map(
    all.map((row): [number, ProcessEntry] => [
      row.pid,
      {
        parentPid: 1,
        groupId: row.pid,
        sessionId: row.pid,
        start: String(row.pid),
        state: 'S',
        name: 'x',
        cpuMs: 10,
        residentBytes: 1000,
        ...row,
      },
    ]),
  );
  const looked: number[] = [];
  const members = planMembers(
    table,
    {
      rootPid: ROOT,
      rootStart: options.rootStart ?? String(ROOT),
      sessionId: 's1',
      thorough: options.thorough ?? false,
    },
    {
      selfPid: options.selfPid ?? SELF,
      markersOf: (pid) => {
        looked.push(pid);
        return all.find((row) => row.pid === pid)?.markers ?? NO_MARKERS;
      },
    },
  );
  return { pids: members.map((entry) => entry.pid), members, table, looked };
}

const root: Row = { pid: ROOT, parentPid: SELF, markers: OURS };

describe('by descent', () => {
  test('takes the root first, then its descendants, and no sibling', () => {
    const { pids } = plan([
      { pid: 102, parentPid: 101 },
      { pid: 101, parentPid: ROOT },
      root,
      { pid: 103, parentPid: SELF },
    ]);
    expect(pids).toEqual([100, 101, 102]);
  });

  test('a root that is another process now is not ours, nor is anything below it', () => {
    expect(plan([root, { pid: 101, parentPid: ROOT }], { rootStart: '99' }).pids).toEqual([]);
  });

  test('a child older than its parent belongs to an earlier process of that pid', () => {
    expect(plan([root, { pid: 60, parentPid: ROOT }]).pids).toEqual([100]);
  });

  test('parents in a circle end', () => {
    expect(
      plan([root, { pid: 101, parentPid: 102, start: '5' }, { pid: 102, parentPid: 101, start: '5' }]).pids,
    ).toEqual([100]);
    expect(
      plan([
        { ...root, parentPid: 101 },
        { pid: 101, parentPid: ROOT },
      ]).pids,
    ).toEqual([100, 101]);
  });

  test('a session inside the session is part of it', () => {
    const inner = { sessionId: 's2', roostProcess: false };
    expect(plan([root, { pid: 101, parentPid: ROOT, markers: inner }]).pids).toEqual([100, 101]);
  });

  test('zombies are left out, but what hangs on them is not', () => {
    const { pids } = plan([
      { ...root, state: 'Z' },
      { pid: 101, parentPid: 1, groupId: ROOT, sessionId: ROOT },
    ]);
    expect(pids).toEqual([101]);
  });
});

describe('by group and kernel session', () => {
  test('takes what was reparented but stayed in the group or session of the root', () => {
    expect(
      plan([root, { pid: 101, groupId: ROOT, sessionId: 7 }, { pid: 102, groupId: 7, sessionId: ROOT }]).pids,
    ).toEqual([100, 102, 101]);
  });

  test('takes what stayed in a session that a member leads', () => {
    expect(
      plan([root, { pid: 101, parentPid: ROOT }, { pid: 102, groupId: 9, sessionId: 101 }]).pids,
    ).toEqual([100, 101, 102]);
  });

  test('does not take the group that the root was born into', () => {
    expect(
      plan([
        { ...root, groupId: 40, sessionId: 40 },
        { pid: 101, groupId: 40, sessionId: 40 },
      ]).pids,
    ).toEqual([100]);
  });

  test('without a root, only a marked process proves the group', () => {
    const mate = { pid: 101, groupId: ROOT, sessionId: ROOT };
    expect(plan([mate], { thorough: true }).pids).toEqual([]);
    expect(
      plan([mate, { pid: 102, groupId: ROOT, sessionId: ROOT, markers: OURS }], { thorough: true }).pids,
    ).toEqual([102, 101]);
  });

  test('a group of a process that took the pid of the root is not ours', () => {
    const taker = { pid: ROOT, start: '120' };
    const rows = [taker, { pid: 130, groupId: ROOT }, { pid: 140, groupId: ROOT, markers: OURS }];
    expect(plan(rows, { thorough: true }).pids).toEqual([140]);
  });
});

describe('by marker', () => {
  test('finds what left everything, and its children without a marker', () => {
    const rows = [root, { pid: 101, markers: OURS }, { pid: 102, parentPid: 101 }, { pid: 103 }];
    expect(plan(rows, { thorough: true }).pids).toEqual([100, 101, 102]);
    expect(plan(rows).pids).toEqual([100]);
  });

  test('reads no environment of a process older than the root', () => {
    const { looked } = plan([root, { pid: 60, markers: OURS }, { pid: 101 }], { thorough: true });
    expect(looked).not.toContain(60);
    expect(looked).toContain(101);
  });
});

describe('fences', () => {
  const daemon = { pid: 101, parentPid: ROOT, groupId: ROOT, sessionId: ROOT, markers: DAEMON };

  test('a Roost daemon started inside is excluded, with all below it, by whatever way they are found', () => {
    const rows = [
      root,
      daemon,
      { pid: 102, parentPid: 101, groupId: ROOT },
      { pid: 103, parentPid: 102, markers: OURS },
      { pid: 104, parentPid: ROOT },
    ];
    expect(plan(rows, { thorough: true }).pids).toEqual([100, 104]);
    expect(plan(rows).pids).toEqual([100, 104]);
  });

  test('a daemon that took over the pid of a parent fences nothing', () => {
    const rows = [
      root,
      { pid: 101, parentPid: ROOT, start: '500', markers: DAEMON },
      { pid: 102, parentPid: 101, markers: OURS },
    ];
    expect(plan(rows, { thorough: true }).pids).toEqual([100, 102]);
  });

  test('a daemon that is the root itself is a member', () => {
    expect(
      plan([
        { ...root, markers: DAEMON },
        { pid: 101, parentPid: ROOT },
      ]).pids,
    ).toEqual([100, 101]);
  });

  test('init, this process and its ancestors are never members', () => {
    const everything = { groupId: ROOT, sessionId: ROOT, markers: OURS };
    const rows = [root, { pid: 101, parentPid: ROOT }, { pid: 102, parentPid: 101, ...everything }];
    const { pids } = plan(rows, { thorough: true, selfPid: 102 });
    expect(pids).toEqual([]);
  });
});

test('whatever the table holds, it ends, with distinct members, none of them untouchable', () => {
  const pid = fc.integer({ min: 1, max: 12 });
  const row = fc.record({
    pid,
    parentPid: pid,
    groupId: pid,
    sessionId: pid,
    start: fc.integer({ min: 0, max: 5 }).map(String),
    markers: fc.constantFrom(OURS, DAEMON, NO_MARKERS),
  });
  fc.assert(
    fc.property(
      fc.uniqueArray(row, { maxLength: 12, selector: (one) => one.pid }),
      fc.boolean(),
      (rows, thorough) => {
        const own = rows.map((one) => ({ ...one, pid: one.pid + 94 }));
        const { pids } = plan(own, { thorough, rootStart: '3' });
        expect(new Set(pids).size).toBe(pids.length);
        for (const untouchable of [1, 40, SELF]) expect(pids).not.toContain(untouchable);
        for (const one of own)
          if (one.markers === DAEMON && one.pid !== ROOT) expect(pids).not.toContain(one.pid);
      },
    ),
  );
});

test('usage adds up the members that are still the same processes', () => {
  const { members, table } = plan([root, { pid: 101, parentPid: ROOT }, { pid: 102, parentPid: ROOT }]);
  expect(treeUsage(table, members)).toEqual({ cpuMs: 30, residentBytes: 3000, processes: 3 });
  const later = new Map(table);
  later.delete(101);
  later.set(102, { ...later.get(102)!, start: '500' });
  expect(treeUsage(later, members)).toEqual({ cpuMs: 10, residentBytes: 1000, processes: 1 });
});

test('starts are ordered, as ticks and as dates', () => {
  expect(startOrder('99')).toBeLessThan(startOrder('100'));
  expect(startOrder('Tue Sep 30 09:00:00 2025')).toBeLessThan(startOrder('Wed Oct 1 08:00:00 2025'));
  expect(startOrder('gibberish')).toBeNaN();
});
