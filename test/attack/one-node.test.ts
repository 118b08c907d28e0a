import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectTo } from '../support/node-client.ts';
import { CLI, isAlive, RoostHome, type Ran } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const NODE_SCRIPT = join(CLI, '..', 'node.js');
/** A second node refuses within this, process start included, when it gets a processor. */
const REFUSAL_MS_MAX = 1_000;
/** Other programs may have the processors: one attempt in so many has to be as quick, and so many are made at least. */
const ATTEMPTS = { min: 4, max: 25 };
/** A command gives up on a node that does not answer within this. */
const UNRESPONSIVE_MS_MAX = 10_000;

/** A node started directly, without the command's own care. */
function bareNode(roost: RoostHome): Promise<Ran & { tookMs: number }> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(process.execPath, [NODE_SCRIPT, '--home', roost.home], {
      env: roost.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    goFirst(child.pid ?? 0);
    let [stdout, stderr] = ['', ''];
    child.stdout?.on('data', (bytes: Buffer) => (stdout += bytes.toString()));
    child.stderr?.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr, tookMs: performance.now() - started }));
  });
}

/** How long it takes is to tell of itself, not of what else runs here; only root may say so. */
function goFirst(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_HIGH);
  } catch {
    // It waits for its turn.
  }
}

/** Every file below the home with its inode. */
function filesOf(home: string): string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .map((name) => `${name} ${statSync(join(home, name)).ino}`)
    .sort();
}

async function killed(pids: readonly number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await waitFor('the processes to be gone', () => !pids.some(isAlive));
}

describe('a second node on one state directory', () => {
  it.each([
    ['serves', false],
    ['is stopped with SIGSTOP', true],
  ])('refuses in under a second while the first %s, and kills and unlinks nothing', async (_, stopped) => {
    await using roost = new RoostHome();
    const { pid } = await roost.run('job', ['cat']);
    const first = await roost.nodePid();
    const [daemons, files] = [roost.daemons(), filesOf(roost.home)];
    if (stopped) process.kill(first, 'SIGSTOP');
    try {
      let quickest = Infinity;
      for (let attempt = 1; attempt <= ATTEMPTS.max; attempt += 1) {
        const { code, stderr, tookMs } = await bareNode(roost);
        expect(code).toBe(1);
        expect(stderr).toMatch(/^roost: node-already-running: /);
        quickest = Math.min(quickest, tookMs);
        if (attempt >= ATTEMPTS.min && quickest < REFUSAL_MS_MAX) break;
      }
      expect(quickest).toBeLessThan(REFUSAL_MS_MAX);
      expect(roost.daemons()).toEqual(daemons);
      expect(filesOf(roost.home)).toEqual(files);
      expect(isAlive(pid ?? 0)).toBe(true);
    } finally {
      process.kill(first, 'SIGCONT');
    }
    expect(await roost.nodePid()).toBe(first);
    expect((await roost.session('job')).pid).toBe(pid);
  });

  it('is never started by a command that finds the first stopped; the command says so in bounded time', async () => {
    await using roost = new RoostHome();
    await roost.run('job', ['cat']);
    const first = await roost.nodePid();
    const daemons = roost.daemons();
    process.kill(first, 'SIGSTOP');
    try {
      const refused = async (args: readonly string[]) => {
        const started = performance.now();
        const { code, stdout, stderr } = await roost.roost(args);
        expect([args, code, stdout]).toEqual([args, 1, '']);
        expect(stderr).toMatch(/^roost: node-unresponsive: .+\n.*kill -CONT/);
        expect(performance.now() - started).toBeLessThan(UNRESPONSIVE_MS_MAX);
      };
      await Promise.all([['ls'], ['down'], ['run', '--detach', '--', 'cat']].map(refused));
      expect(roost.daemons()).toEqual(daemons);
    } finally {
      process.kill(first, 'SIGCONT');
    }
    expect((await roost.sessions()).map(({ name }) => name)).toEqual(['job']);
  });

  it('is not there when ten commands find no node at once', async () => {
    await using roost = new RoostHome();
    const ran = await Promise.all(Array.from({ length: 10 }, () => roost.roost(['ls', '--json'])));
    expect(ran.map(({ code, stdout, stderr }) => [code, stdout.trim(), stderr])).toEqual(
      Array.from({ length: 10 }, () => [0, '[]', '']),
    );
    const { pid, keepers } = await roost.json<{ pid: number; keepers: { pid: number }[] }>(['status']);
    expect(roost.daemons().sort()).toEqual([pid, ...keepers.map((keeper) => keeper.pid)].sort());
  });
});

describe('leftovers of a crash', () => {
  it('of node and keepers never block a start, and what was lost is told', async () => {
    await using roost = new RoostHome();
    const { id, pid } = await roost.run('job', ['sleep', '600']);
    await killed([await roost.nodePid(), ...roost.keeperPids()]);
    expect(existsSync(join(roost.home, 'node.sock'))).toBe(true);
    await roost.ok(['up', '--no-hub']);
    expect(await roost.session('job')).toMatchObject({ id, status: 'lost', endReason: 'keeper-died' });
    await waitFor('what its keeper left behind to be ended', () => !isAlive(pid ?? 0));
    await roost.run('next', ['sh', '-c', 'echo served; read x']);
    await roost.screenShows('next', /served/);
  });

  it('that name a living process of somebody else never harm it', async () => {
    await using roost = new RoostHome();
    await roost.ok(['up', '--no-hub']);
    await killed([await roost.nodePid(), ...roost.keeperPids()]);
    const bystander = spawn('sleep', ['600'], { stdio: 'ignore' });
    try {
      const keepers = join(roost.home, 'keepers');
      const identity = { pid: bystander.pid, processStart: '1', version: '0' };
      writeFileSync(join(keepers, '00000000000000aa.json'), JSON.stringify(identity));
      writeFileSync(join(keepers, '00000000000000bb.json'), 'junk');
      writeFileSync(join(keepers, '00000000000000cc.sock'), 'not even a socket');
      await roost.run('job', ['sh', '-c', 'echo served; read x']);
      await roost.screenShows('job', /served/);
      const { keepers: told } = await roost.json<{ keepers: unknown[] }>(['status']);
      expect(told).toHaveLength(1);
      expect(isAlive(bystander.pid ?? 0)).toBe(true);
    } finally {
      bystander.kill('SIGKILL');
    }
  });

  it.each([
    ['an empty', ''],
    ['an overwritten', 'junk '.repeat(2_000)],
  ])('%s lock file does not block a start', async (_, content) => {
    await using roost = new RoostHome();
    mkdirSync(roost.home, { mode: 0o700 });
    writeFileSync(join(roost.home, 'node.lock'), content);
    await roost.ok(['up', '--no-hub']);
    expect((await bareNode(roost)).stderr).toMatch(/^roost: node-already-running: /);
  });
});

describe('a socket file that is taken away', () => {
  it('from the node is noticed and made anew, and connections live on', async () => {
    await using roost = new RoostHome();
    await roost.run('job', ['cat']);
    const pid = await roost.nodePid();
    const connection = await connectTo(roost);
    const socket = join(roost.home, 'node.sock');
    rmSync(socket);
    await waitFor('the socket to be there again', () => existsSync(socket));
    expect(await roost.nodePid()).toBe(pid);
    expect((await connection.request('node.status', {})).pid).toBe(pid);
    connection.close();
    // A command that comes before it is there again waits, and starts no other node.
    for (let round = 0; round < 3; round += 1) {
      rmSync(socket);
      expect(await roost.json(['status'])).toMatchObject({ pid });
    }
  });

  it('from the node, with something else in its place, is made anew when that is gone', async () => {
    await using roost = new RoostHome();
    await roost.ok(['up', '--no-hub']);
    const pid = await roost.nodePid();
    const socket = join(roost.home, 'node.sock');
    // The node may be quicker to make it anew.
    await waitFor('something else to be in its place', () => {
      rmSync(socket, { force: true });
      try {
        mkdirSync(socket);
        return true;
      } catch {
        return false;
      }
    });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(isAlive(pid)).toBe(true);
    rmSync(socket, { recursive: true });
    await waitFor('the socket to be there again', () => existsSync(socket) && statSync(socket).isSocket());
    expect(await roost.nodePid()).toBe(pid);
  });

  it('from a keeper is made anew, and a node that starts then finds it', async () => {
    await using roost = new RoostHome();
    const { pid } = await roost.run('job', ['cat']);
    const keepers = join(roost.home, 'keepers');
    const sockets = readdirSync(keepers).filter((name) => name.endsWith('.sock'));
    for (const name of sockets) rmSync(join(keepers, name));
    const node = await roost.nodePid();
    await killed([node]);
    await roost.ok(['up', '--no-hub']);
    await waitFor('the keeper to be found again', async () => {
      const session = await roost.session('job');
      if (session.status !== 'running') return false;
      return (await roost.roost(['send', 'job', 'back', '--enter'])).code === 0;
    });
    await roost.screenShows('job', /^back\nback$/m);
    expect((await roost.session('job')).pid).toBe(pid);
    for (const name of sockets) expect(existsSync(join(keepers, name))).toBe(true);
  });
});

describe('a long state directory', () => {
  const LIMIT_BYTES = 107;
  /** Of the longest socket path in it: /keepers/ + 16 digits + .sock */
  const BELOW_BYTES = 30;

  it.each([
    ['as long as can be', LIMIT_BYTES - BELOW_BYTES, true],
    ['one byte longer', LIMIT_BYTES - BELOW_BYTES + 1, false],
    ['longer than any socket path', 180, false],
  ])('%s works or is refused with the limit', async (_, length, works) => {
    await using short = new RoostHome();
    const padding = 'x'.repeat(length - short.root.length - 1);
    const home = join(short.root, padding);
    await using roost = new RoostHome({ home });
    if (works) {
      await roost.run('job', ['cat']);
      const terminal = roost.terminal(['attach', 'job']);
      await waitFor('the client', async () => (await roost.session('job')).attachedClients === 1);
      terminal.type('typed\r');
      await terminal.shows(/typed\s+typed/);
      return;
    }
    for (const args of [['up', '--no-hub'], ['ls'], ['run', '--detach', '--', 'cat']]) {
      const { code, stdout, stderr } = await roost.roost(args);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^roost: home-path-too-long: .+\n/);
      expect(stderr).toContain(String(LIMIT_BYTES));
    }
    await waitFor('the refused node to end', () => roost.daemons().length === 0);
  });
});
