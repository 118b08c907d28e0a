import { spawn, type ChildProcess } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { parseProcEnvironment, parseProcStat, procSource } from './proc-source.ts';
import { parseCpuTime, parsePsEnvironments, parsePsTable, psSource } from './ps-source.ts';
import { processStart, readProcessTable } from './table.ts';
import type { ProcessEntry } from './process-entry.ts';

const children: ChildProcess[] = [];
const directories: string[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

async function started(
  file: string,
  parameters: string[],
  env: Record<string, string> = {},
): Promise<number> {
  const child = spawn(file, parameters, {
    stdio: 'ignore',
    detached: true,
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  children.push(child);
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  return child.pid!;
}

const UNITS = { pageBytes: 4096, msPerTick: 10 };
const stat = (pid: number, name: string) =>
  `${pid} (${name}) S 7 8 9 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 777 4096 5 18446744073709551615 1 1\n`;

describe('/proc', () => {
  test('reads ids, start, time and memory', () => {
    expect(parseProcStat(stat(42, 'node'), UNITS)).toEqual({
      pid: 42,
      parentPid: 7,
      groupId: 8,
      sessionId: 9,
      start: '777',
      state: 'S',
      name: 'node',
      cpuMs: 1000,
      residentBytes: 5 * 4096,
    });
  });

  test('a name may hold anything, also what looks like the end of it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom(') S 1 1 (', 'a b', '((', '\n)')), (name) => {
        expect(parseProcStat(stat(42, name), UNITS)).toMatchObject({ name, parentPid: 7, start: '777' });
      }),
    );
  });

  test('half a line is no process', () => {
    expect(parseProcStat('', UNITS)).toBeNull();
    expect(parseProcStat('42 (node', UNITS)).toBeNull();
    expect(parseProcStat('42 (node) S 1 1', UNITS)).toBeNull();
  });

  test('a marker is an entry of its own', () => {
    const markers = (...entries: string[]) =>
      parseProcEnvironment(Buffer.from(entries.map((e) => `${e}\0`).join('')));
    expect(markers('A=1', 'ROOST_SESSION_ID=abc', 'B=2').sessionId).toBe('abc');
    expect(markers('ROOST_SESSION_ID=abc').sessionId).toBe('abc');
    expect(markers('NOTE=ROOST_SESSION_ID=abc', 'MY_ROOST_SESSION_ID=abc').sessionId).toBeNull();
    expect(markers('XROOST_SESSION_ID=no', 'ROOST_SESSION_ID=yes').sessionId).toBe('yes');
    expect(markers('ROOST_PROCESS=node').roostProcess).toBe(true);
    expect(markers('ROOST_PROCESS_X=node').roostProcess).toBe(false);
    expect(parseProcEnvironment(Buffer.from('ROOST_SESSION_ID=cut')).sessionId).toBe('cut');
  });
});

describe('ps', () => {
  const text = [
    '  501     1   501  501 Ss   Tue Sep 30 09:01:02 2025      0:01.25   2048 /bin/my shell',
    '  502   501   501    0 S+   Tue Sep 30 09:01:03 2025  1-02:03:04    100 sleep',
    '  503   501   501 ffffa0 Z  Tue Oct  1 09:01:03 2025    0:00.00      0 (sleep)',
    'garbage',
  ].join('\n');

  test('reads rows of either system', () => {
    const table = parsePsTable(text);
    expect([...table.keys()]).toEqual([501, 502, 503]);
    expect(table.get(501)).toMatchObject({
      parentPid: 1,
      sessionId: 501,
      state: 'S',
      start: 'Tue Sep 30 09:01:02 2025',
      cpuMs: 1250,
      residentBytes: 2048 * 1024,
      name: '/bin/my shell',
    });
    expect(table.get(503)).toMatchObject({ state: 'Z', sessionId: 0, start: 'Tue Oct 1 09:01:03 2025' });
  });

  test.each([
    ['0:01.25', 1_250],
    ['00:01:02', 62_000],
    ['1-02:03:04', 93_784_000],
  ])('processor time %s', (written, ms) => {
    expect(parseCpuTime(written)).toBe(ms);
  });

  test('markers stand behind the arguments', () => {
    const all = parsePsEnvironments(
      '  7 sleep 9 A=1 ROOST_SESSION_ID=abc B=2\n  8 x ROOST_PROCESS=node\n  9 y\n',
    );
    expect(all.get(7)).toEqual({ sessionId: 'abc', roostProcess: false });
    expect(all.get(8)).toEqual({ sessionId: null, roostProcess: true });
    expect(all.get(9)).toBeUndefined();
  });
});

describe.each([
  ['/proc', procSource],
  ['ps', psSource],
])('this machine through %s', (_name, source) => {
  const comparable = ({ pid, parentPid, groupId, sessionId }: ProcessEntry) => ({
    pid,
    parentPid,
    groupId,
    sessionId,
  });

  test('sees this process and a detached child, alike in the whole table and alone', async () => {
    const pid = await started('sleep', ['60']);
    const table = source.entries();
    expect(comparable(table.get(pid)!)).toEqual({
      pid,
      parentPid: process.pid,
      groupId: pid,
      sessionId: pid,
    });
    expect(table.get(process.pid)).toMatchObject({ parentPid: process.ppid });
    expect(table.get(process.pid)!.residentBytes).toBeGreaterThan(10_000_000);
    const alone = source.entries([pid, 2 ** 30]);
    expect([...alone.keys()]).toEqual([pid]);
    expect(alone.get(pid)!.start).toBe(table.get(pid)!.start);
  });

  test('asked for nothing or for what is not there, answers nothing', () => {
    expect(source.entries([]).size).toBe(0);
    expect(source.entries([2 ** 30]).size).toBe(0);
  });

  test('reads the markers of a child, behind a large environment too', async () => {
    const padding = Object.fromEntries(
      Array.from({ length: 8 }, (_, at) => [`PADDING_${at}`, 'x'.repeat(10_000)]),
    );
    const pid = await started('sleep', ['60'], { ...padding, ROOST_SESSION_ID: 'abc' });
    await expect
      .poll(() => source.markers()(pid), { timeout: 20_000 })
      .toEqual({ sessionId: 'abc', roostProcess: false });
    expect(source.markers()(2 ** 30)).toEqual({ sessionId: null, roostProcess: false });
  });
});

test('a program whose file name holds parentheses is read right', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'roost-table-'));
  directories.push(directory);
  const file = join(directory, 'a) R 1 (b');
  copyFileSync('/bin/sleep', file);
  const pid = await started(file, ['60']);
  await expect.poll(() => readProcessTable([pid]).get(pid)?.name, { timeout: 20_000 }).toBe('a) R 1 (b');
  expect(readProcessTable().get(pid)).toMatchObject({
    parentPid: process.pid,
    state: expect.stringMatching(/[SR]/),
  });
});

test('processor time of this process is what it says itself, or more with collected children', () => {
  const { user, system } = process.cpuUsage();
  const ownMs = (user + system) / 1000;
  const { cpuMs } = readProcessTable([process.pid]).get(process.pid)!;
  expect(cpuMs).toBeGreaterThan(ownMs - 100);
});

test('the start of a process stays, and is null for none', async () => {
  const pid = await started('sleep', ['60']);
  const start = processStart(pid);
  expect(start).toMatch(/^\d+$/);
  expect(processStart(pid)).toBe(start);
  expect(processStart(2 ** 30)).toBeNull();
});
