import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { endProcesses, type EndOptions } from './end.ts';
import { sessionMembers } from './membership.ts';
import type { ProcessEntry } from './process-entry.ts';
import { processStart, readProcessTable } from './table.ts';

let directory: string;
const sessions: Session[] = [];
const bystanders: ChildProcess[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roost-end-'));
});
afterEach(() => {
  // By handle, not through the code under test; what a script starts ends by itself within a minute.
  for (const { child } of sessions.splice(0)) child.kill('SIGKILL');
  for (const child of bystanders.splice(0)) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

interface Session {
  readonly child: ChildProcess;
  readonly rootPid: number;
  readonly rootStart: string;
  readonly sessionId: string;
}

/** A shell script as the root of a session, in a kernel session of its own, like the keeper's children. */
async function session(script: string, extra: Record<string, string> = {}): Promise<Session> {
  const sessionId = randomUUID();
  const child = spawn('/bin/sh', ['-c', script], {
    cwd: directory,
    detached: true,
    stdio: 'ignore',
    env: { PATH: process.env.PATH ?? '', ROOST_SESSION_ID: sessionId, ...extra },
  });
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  const one = { child, rootPid: child.pid!, rootStart: processStart(child.pid!)!, sessionId };
  sessions.push(one);
  return one;
}

/** Pid that a script wrote into a file with `echo $! > NAME`. */
async function writtenPid(name: string): Promise<number> {
  const path = join(directory, name);
  await expect
    .poll(() => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'), { timeout: 10_000 })
    .toBe(true);
  return Number(readFileSync(path, 'utf8'));
}

const find = (one: Session) => () => sessionMembers({ ...one, thorough: true });
const pidsOf = (entries: readonly ProcessEntry[]) => entries.map((entry) => entry.pid).sort((a, b) => a - b);
const runs = (pid: number) => !['Z', undefined].includes(readProcessTable([pid]).get(pid)?.state);
const end = (one: Session, options: Partial<EndOptions> = {}) =>
  endProcesses({ find: find(one), graceMs: 5_000, politeSignals: ['SIGTERM'], ...options });

describe('what a session is made of', () => {
  test('a tree, a descendant in its own kernel session, and one that init adopted', async () => {
    const one = await session(
      `sleep 60 & echo $! > plain
       setsid sleep 60 & echo $! > setsid
       (setsid sh -c 'sleep 60 & echo $! > daemon; exit' &)
       wait`,
    );
    const plain = await writtenPid('plain');
    const detached = await writtenPid('setsid');
    const daemon = await writtenPid('daemon');
    await expect.poll(() => readProcessTable([daemon]).get(daemon)?.name, { timeout: 20_000 }).toBe('sleep');
    await expect
      .poll(() => readProcessTable([daemon]).get(daemon)?.sessionId, { timeout: 20_000 })
      .not.toBe(one.rootPid);
    await expect
      .poll(() => pidsOf(find(one)()), { timeout: 20_000 })
      .toEqual([one.rootPid, plain, detached, daemon].sort((a, b) => a - b));

    // Also after the root is gone and collected.
    one.child.kill('SIGKILL');
    await expect.poll(() => processStart(one.rootPid), { timeout: 20_000 }).toBeNull();
    expect(pidsOf(find(one)())).toEqual([plain, detached, daemon].sort((a, b) => a - b));

    expect(await end(one)).toEqual({ ended: 3, forced: false, survivors: [] });
    for (const pid of [plain, detached, daemon]) expect(runs(pid)).toBe(false);
  });

  test('a Roost daemon that an agent started outlives the session with its children', async () => {
    const one = await session(
      `ROOST_PROCESS=node setsid sh -c 'sleep 60 & echo $! > below; echo $$ > daemon; wait' &
       ROOST_PROCESS=node sleep 60 & echo $! > mate
       sleep 60`,
    );
    const survivors = [await writtenPid('daemon'), await writtenPid('below'), await writtenPid('mate')];
    try {
      await expect.poll(() => readProcessTable([survivors[2]!]).get(survivors[2]!)?.name).toBe('sleep');
      const outcome = await end(one, { graceMs: 0 });
      expect(outcome).toMatchObject({ forced: true, survivors: [] });
      expect(survivors.map(runs)).toEqual([true, true, true]);
    } finally {
      for (const pid of survivors) if (runs(pid)) process.kill(pid, 'SIGKILL');
    }
  });

  test('bystanders of the same name and parent survive', async () => {
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    bystanders.push(other);
    const neighbour = await session('sleep 60 & echo $! > neighbour; wait');
    const neighboursChild = await writtenPid('neighbour');
    const one = await session('sleep 60 & sleep 60 & wait');
    await expect.poll(() => find(one)().length, { timeout: 20_000 }).toBe(3);
    expect(await end(one)).toEqual({ ended: 3, forced: false, survivors: [] });
    expect([other.pid!, neighbour.rootPid, neighboursChild].map(runs)).toEqual([true, true, true]);
    process.kill(neighboursChild, 'SIGKILL');
  });
});

describe('ending', () => {
  test('waits for those that clean up', async () => {
    const one = await session(
      `trap 'sleep 0.3; echo done > cleaned; exit' TERM; echo 1 > ready; while :; do sleep 0.05; done`,
    );
    await writtenPid('ready');
    const outcome = await end(one);
    expect(outcome).toMatchObject({ survivors: [] });
    expect(readFileSync(join(directory, 'cleaned'), 'utf8')).toBe('done\n');
  });

  test('kills what ignores SIGTERM, not before the grace is over', async () => {
    const one = await session(`trap '' TERM HUP; echo 1 > ready; while :; do sleep 0.05; done`);
    await writtenPid('ready');
    const begun = performance.now();
    const outcome = await end(one, { graceMs: 300, politeSignals: ['SIGTERM', 'SIGHUP'] });
    expect(performance.now() - begun).toBeGreaterThanOrEqual(299);
    expect(outcome).toMatchObject({ forced: true, survivors: [] });
    expect(runs(one.rootPid)).toBe(false);
  });

  test('a stopped process sees the request', async () => {
    const one = await session(
      `trap 'echo asked > asked; exit' TERM; echo 1 > ready; while :; do sleep 0.05; done`,
    );
    await writtenPid('ready');
    process.kill(one.rootPid, 'SIGSTOP');
    await expect
      .poll(() => readProcessTable([one.rootPid]).get(one.rootPid)?.state, { timeout: 20_000 })
      .toBe('T');
    expect(await end(one)).toMatchObject({ forced: false, survivors: [] });
    expect(readFileSync(join(directory, 'asked'), 'utf8')).toBe('asked\n');
  });

  test('asks those too that are started while it waits', async () => {
    const one = await session(
      `trap 'setsid sh -c "echo 1 > late; sleep 60 & wait" & exit' TERM; echo 1 > ready; while :; do sleep 0.05; done`,
    );
    await writtenPid('ready');
    // The latecomer needs no force: it was asked too.
    expect(await end(one, { graceMs: 20_000 })).toMatchObject({ forced: false, survivors: [] });
    expect(find(one)()).toEqual([]);
  });

  test('outruns a process that replaces itself over and over', async () => {
    const respawn = join(directory, 'respawn.sh');
    // Each generation lives a moment, ignores requests, and the whole ends by itself after 400.
    writeFileSync(
      respawn,
      `trap '' TERM HUP; echo 1 >> alive; n=$1; [ $n -le 0 ] && exit; sleep 0.02; setsid sh ${respawn} $((n-1)) & exit\n`,
    );
    const one = await session(`sh ${respawn} 400 & sh ${respawn} 400 & wait; sleep 60`);
    await expect.poll(() => existsSync(join(directory, 'alive')), { timeout: 20_000 }).toBe(true);
    expect(await end(one, { graceMs: 100 })).toMatchObject({ forced: true, survivors: [] });
    const generations = readFileSync(join(directory, 'alive'), 'utf8').length;
    expect(generations).toBeLessThan(2 * 2 * 400);
    expect(find(one)()).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(readFileSync(join(directory, 'alive'), 'utf8').length).toBe(generations);
  });

  test('with nothing there, does nothing', async () => {
    const signalled: number[] = [];
    const outcome = await endProcesses({
      find: () => [],
      graceMs: 1_000,
      politeSignals: ['SIGTERM'],
      signal: (pid) => signalled.push(pid),
    });
    expect(outcome).toEqual({ ended: 0, forced: false, survivors: [] });
    expect(signalled).toEqual([]);
  });

  test('does not hold up the event loop while many refuse to end', async () => {
    const one = await session(`trap '' TERM; i=0; while [ $i -lt 40 ]; do sleep 60 & i=$((i+1)); done; wait`);
    await expect
      .poll(() => find(one)().filter(({ name }) => name === 'sleep').length, { timeout: 10_000 })
      .toBe(40);
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 1);
    const outcome = await end(one, { graceMs: 500 });
    clearInterval(ticking);
    expect(outcome).toEqual({ ended: 41, forced: true, survivors: [] });
    expect(ticks).toBeGreaterThan(50);
  });
});

describe('signals', () => {
  const entry = (pid: number, start = '1'): ProcessEntry => ({
    pid,
    start,
    parentPid: 1,
    groupId: pid,
    sessionId: pid,
    state: 'S',
    name: 'x',
    cpuMs: 0,
    residentBytes: 0,
  });

  /** A machine on paper: who runs, what they do on a signal, a clock that jumps. */
  function paper(
    running: ProcessEntry[],
    react: (pid: number, signal: NodeJS.Signals) => void = () => undefined,
  ) {
    const processes = new Map(running.map((one) => [one.pid, one]));
    const sent: string[] = [];
    let now = 0;
    const options = {
      identify: (pids: readonly number[]) =>
        new Map(pids.flatMap((pid) => (processes.has(pid) ? [[pid, processes.get(pid)!] as const] : []))),
      signal: (pid: number, signal: NodeJS.Signals) => {
        sent.push(`${pid} ${signal}`);
        react(pid, signal);
        if (!processes.has(pid)) throw Object.assign(new Error('gone'), { code: 'ESRCH' });
        if (signal === 'SIGKILL') processes.delete(pid);
      },
      clock: {
        now: () => now,
        sleep: (ms: number) => {
          now += ms;
          return Promise.resolve();
        },
      },
    };
    return { options, sent, processes, elapsed: () => now };
  }

  test('go out once each, in order, SIGCONT last', async () => {
    const { options, sent } = paper([entry(7), entry(8)]);
    const seen = [entry(7), entry(8)];
    const outcome = await endProcesses({
      ...options,
      find: () => seen.filter((one) => options.identify([one.pid]).has(one.pid)),
      graceMs: 1_000,
      politeSignals: ['SIGTERM', 'SIGHUP'],
    });
    const polite = (pid: number) => [`${pid} SIGTERM`, `${pid} SIGHUP`, `${pid} SIGCONT`];
    expect(sent).toEqual([...polite(7), ...polite(8), '7 SIGKILL', '8 SIGKILL']);
    expect(outcome).toEqual({ ended: 2, forced: true, survivors: [] });
  });

  test('reach one that appears while another refuses to end', async () => {
    const { options, sent, processes, elapsed } = paper([entry(7), entry(8)]);
    await endProcesses({
      ...options,
      find: () => [...processes.values()].filter(({ pid }) => pid === 7 || elapsed() > 100),
      graceMs: 1_000,
      politeSignals: ['SIGTERM'],
    });
    expect(sent.indexOf('8 SIGTERM')).toBeGreaterThan(0);
    expect(sent.indexOf('8 SIGTERM')).toBeLessThan(sent.indexOf('7 SIGKILL'));
  });

  test('reach one that a first look missed', async () => {
    const { options, processes } = paper([entry(7)]);
    let looks = 0;
    const outcome = await endProcesses({
      ...options,
      find: () => (looks++ === 0 ? [] : [...processes.values()]),
      graceMs: 0,
      politeSignals: [],
    });
    expect(outcome).toEqual({ ended: 1, forced: true, survivors: [] });
  });

  test('never reach a process that took over a pid', async () => {
    const { options, sent, processes } = paper([entry(7, '999')]);
    let looks = 0;
    const outcome = await endProcesses({
      ...options,
      find: () => (looks++ === 0 ? [entry(7, '1')] : []),
      graceMs: 500,
      politeSignals: ['SIGTERM'],
    });
    expect(sent).toEqual([]);
    expect(processes.has(7)).toBe(true);
    expect(outcome).toEqual({ ended: 1, forced: false, survivors: [] });
  });

  test('that come too late are success', async () => {
    const { options, processes } = paper([entry(7)], (pid) => processes.delete(pid));
    const outcome = await endProcesses({
      ...options,
      find: () => [...processes.values()],
      graceMs: 500,
      politeSignals: ['SIGTERM'],
    });
    expect(outcome).toEqual({ ended: 1, forced: false, survivors: [] });
  });

  test('that are not allowed leave a survivor, without the whole time of force', async () => {
    const { options, processes, elapsed } = paper([entry(7), entry(8)], (pid) => {
      if (pid === 7) throw Object.assign(new Error('not yours'), { code: 'EPERM' });
    });
    const outcome = await endProcesses({
      ...options,
      find: () => [...processes.values()],
      graceMs: 0,
      politeSignals: ['SIGTERM'],
    });
    expect(outcome).toEqual({ ended: 1, forced: true, survivors: [entry(7)] });
    expect(elapsed()).toBeLessThan(1_000);
  });

  test('give up after a while on what cannot die', async () => {
    const { options, elapsed } = paper([entry(7)]);
    const outcome = await endProcesses({
      ...options,
      signal: () => undefined,
      find: () => [entry(7)],
      graceMs: 200,
      politeSignals: ['SIGTERM'],
    });
    expect(outcome).toEqual({ ended: 0, forced: true, survivors: [entry(7)] });
    expect(elapsed()).toBeGreaterThanOrEqual(3_200);
    expect(elapsed()).toBeLessThan(3_500);
  });
});
