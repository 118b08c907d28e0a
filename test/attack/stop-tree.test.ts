import { spawn, type ChildProcess } from 'node:child_process';
import type { Session } from '@roost/protocol';
import { describe, expect, it } from 'vitest';
import { processes } from '../support/process-facts.ts';
import { isAlive, LAB_AGENT, RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

interface Tree {
  readonly session: Session;
  /** The agent, its children, those in kernel sessions of their own, and daemons whose parent is gone. */
  readonly pids: number[];
}

/** An agent with two descendants of each kind, all of which ignore SIGTERM and SIGHUP, as the agent itself does. */
async function stubbornTree(roost: RoostHome, name: string, flags: readonly string[] = []): Promise<Tree> {
  const session = await roost.run(
    name,
    [
      ...[process.execPath, LAB_AGENT, '--ignore', 'SIGTERM,SIGHUP', '--spawn-ignore'],
      ...['--spawn', '2', '--spawn-setsid', '2', '--spawn-daemon', '2'],
      ...(flags.includes('--pipe') ? ['--pipe'] : []),
    ],
    flags,
  );
  const pids = await waitFor(
    'all descendants to be told',
    async () => {
      // Joined: a long line is wrapped on the screen.
      const text = (await roost.ok(['logs', name])).replaceAll('\n', '').replaceAll('\\', '');
      const told = [...text.matchAll(/"pids":\[([\d, ]+)\]/g)].flatMap(([, list = '']) =>
        list.split(',').map(Number),
      );
      return told.length === 6 ? told : null;
    },
    { timeoutMs: 30_000, state: () => roost.ok(['logs', name]) },
  );
  expect(pids.every(isAlive)).toBe(true);
  return { session, pids: [session.pid ?? 0, ...pids] };
}

const stranger = (): ChildProcess =>
  // The same words as a descendant of an agent has, but nobody's.
  spawn('sleep', ['700000'], { stdio: 'ignore', detached: true });

describe('roost stop', () => {
  it.each([
    ['a terminal session', []],
    ['a pipe session', ['--pipe']],
  ])(
    'ends the whole tree of %s, whatever it ignores and wherever it went, and nothing else',
    async (_, flags) => {
      await using roost = new RoostHome();
      const bystander = stranger();
      try {
        const doomed = await stubbornTree(roost, 'doomed', flags);
        const other = await stubbornTree(roost, 'other', flags);
        const asked = performance.now();
        await roost.ok(['stop', 'doomed', '--grace', '1']);
        expect(performance.now() - asked).toBeGreaterThan(900);
        expect(doomed.pids.filter(isAlive)).toEqual([]);
        expect(other.pids.filter((pid) => !isAlive(pid))).toEqual([]);
        expect(isAlive(bystander.pid ?? 0)).toBe(true);
        expect(await roost.session('doomed')).toMatchObject({ status: 'exited', exitSignal: 'SIGKILL' });
        expect(await roost.session('other')).toMatchObject({ status: 'running' });
        await roost.ok(['stop', 'other', '--force']);
        expect(other.pids.filter(isAlive)).toEqual([]);
        expect(isAlive(bystander.pid ?? 0)).toBe(true);
      } finally {
        bystander.kill('SIGKILL');
      }
    },
  );

  it('ends what the agent left behind when it ended by itself', async () => {
    await using roost = new RoostHome();
    const { session, pids } = await stubbornTree(roost, 'gone');
    process.kill(session.pid ?? 0, 'SIGKILL');
    await waitFor('the exit', async () => (await roost.session('gone')).status === 'exited');
    await roost.ok(['stop', 'gone', '--grace', '0']);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('ends a tree that keeps starting new processes while it is being ended', async () => {
    await using roost = new RoostHome();
    const mark = `breeder-${process.pid}-${Date.now()}`;
    const breed = `trap '' TERM HUP; while :; do setsid sh -c 'sleep 0.3' ${mark} & sleep 0.02; done`;
    const { id } = await roost.run('breeder', ['sh', '-c', breed, mark]);
    await waitFor('many processes', async () => {
      const [session] = await roost.json<{ usage: { processes: number } }[]>(['ls']);
      return (session?.usage.processes ?? 0) > 5;
    });
    await roost.ok(['stop', 'breeder', '--grace', '0']);
    expect((await roost.session('breeder')).id).toBe(id);
    expect(processes().filter(({ words }) => words.includes(mark))).toEqual([]);
  });

  it('ends a tree that was stopped with SIGSTOP', async () => {
    await using roost = new RoostHome();
    const { pid } = await roost.run('frozen', ['sleep', '600']);
    process.kill(pid ?? 0, 'SIGSTOP');
    await roost.ok(['stop', 'frozen']);
    expect(isAlive(pid ?? 0)).toBe(false);
    expect((await roost.session('frozen')).exitSignal).toMatch(/^SIG(TERM|HUP)$/);
  });
});

describe('roost rm', () => {
  it('of a running session is refused, and changes nothing', async () => {
    await using roost = new RoostHome();
    const before = await roost.run('job', ['sleep', '600']);
    const { code, stdout, stderr } = await roost.roost(['rm', 'job']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^roost: session-running: .+\n.*roost stop/);
    expect(await roost.session('job')).toMatchObject({ id: before.id, status: 'running', pid: before.pid });
    expect(isAlive(before.pid ?? 0)).toBe(true);
  });
});
