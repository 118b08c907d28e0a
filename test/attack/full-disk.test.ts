import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { processes } from '../support/process-facts.ts';
import { isAlive, RoostHome } from '../support/roost-home.ts';
import { canMount, SmallDisk } from '../support/small-disk.ts';
import { waitFor } from '../support/wait-for.ts';

/** Room for a database, its log and a little output. */
const DISK_MEGABYTES = 24;

/** The pause is a read of what nobody writes: no process is started for it. */
const counter = 'exec {idle}<> <(:); while :; do echo "line $((++i))"; read -t 0.01 -u $idle; done';

function expectNoGap(text: string): number {
  const numbers = [...text.matchAll(/^line (\d+)$/gm)].map(([, digits]) => Number(digits));
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  return numbers.length;
}

describe.runIf(canMount())('a full disk', () => {
  it('at the first start is refused, and leaves nothing that blocks the next start', async () => {
    using disk = new SmallDisk(DISK_MEGABYTES);
    await using roost = new RoostHome({ home: join(disk.path, 'state') });
    disk.fill();
    for (const args of [['up', '--no-hub'], ['ls']]) {
      const { code, stdout, stderr } = await roost.roost(args);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^roost: storage-full: .+\n.+\n$/);
    }
    await waitFor('the refused node to end', () => roost.daemons().length === 0);
    disk.free();
    await roost.run('job', ['cat']);
    expect(await roost.session('job')).toMatchObject({ status: 'running' });
  });

  it('under a running node refuses what cannot be stored, whole, and harms no session', async () => {
    using disk = new SmallDisk(DISK_MEGABYTES);
    await using roost = new RoostHome({ home: join(disk.path, 'state') });
    const mark = `full-disk-${process.pid}-${Date.now()}`;
    const keep = await roost.run('keep', ['cat']);
    const short = await roost.run('short', ['sh', '-c', 'read x; exit 7']);
    const pipe = await roost.run('pipe', ['bash', '-c', counter], ['--pipe']);
    const nodePid = await roost.nodePid();
    disk.fill();

    const before = (await roost.sessions()).map(({ name }) => name);
    const done: string[] = [];
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const name = `late-${attempt}`;
      const command = ['run', '--detach', '--name', name, '--', 'sh', '-c', 'sleep 600', mark];
      const { code, stderr } = await roost.roost(command);
      if (code === 0) done.push(name);
      else expect(stderr).toMatch(/^roost: storage-full: .+\n.+\n$/);
      expect((await roost.sessions()).map((one) => one.name)).toEqual([...before, ...done]);
      expect(processes().filter(({ words }) => words.includes(mark))).toHaveLength(done.length);
    }
    // Terminals need no disk.
    await roost.ok(['send', 'keep', 'still here', '--enter']);
    await roost.screenShows('keep', /^still here\nstill here$/m);
    await roost.ok(['send', 'short', 'end', '--enter']);
    await waitFor('the child to end', () => !isAlive(short.pid ?? 0));
    expect(await roost.nodePid()).toBe(nodePid);
    for (const { pid } of [keep, pipe]) expect(isAlive(pid ?? 0)).toBe(true);
    // A keeper that could not be started on a full disk leaves no half identity.
    for (const pid of roost.keeperPids()) expect(isAlive(pid)).toBe(true);

    disk.free();
    await waitFor('the exit to be told', async () => {
      const session = await roost.session('short');
      return session.status === 'exited' && session.exitCode === 7;
    });
    await roost.ok(['run', '--detach', '--name', 'after', '--', 'cat']);
    const [seen] = [expectNoGap(await roost.ok(['logs', 'pipe']))];
    await waitFor('the pipe to go on', async () => expectNoGap(await roost.ok(['logs', 'pipe'])) > seen + 50);
    await roost.ok(['stop', 'keep', 'pipe', 'after', ...done]);
    expectNoGap(await roost.ok(['logs', 'pipe']));
    expect(isAlive(pipe.pid ?? 0)).toBe(false);
  });

  it('under a stop ends the session or refuses, and ends it once there is room', async () => {
    using disk = new SmallDisk(DISK_MEGABYTES);
    await using roost = new RoostHome({ home: join(disk.path, 'state') });
    const { pid } = await roost.run('job', ['cat']);
    disk.fill();
    const { code, stderr } = await roost.roost(['stop', 'job']);
    if (code === 0) expect(isAlive(pid ?? 0)).toBe(false);
    else {
      expect(stderr).toMatch(/^roost: storage-full: .+\n.+\n$/);
      expect(await roost.session('job')).toMatchObject({ status: isAlive(pid ?? 0) ? 'running' : 'exited' });
    }
    disk.free();
    await roost.ok(['stop', 'job']);
    expect(isAlive(pid ?? 0)).toBe(false);
    await waitFor('the end to be told', async () => (await roost.session('job')).status === 'exited');
  });

  it('under a node that starts is refused or worked with, and what runs is found again', async () => {
    using disk = new SmallDisk(DISK_MEGABYTES);
    await using roost = new RoostHome({ home: join(disk.path, 'state') });
    const { id, pid } = await roost.run('job', ['cat']);
    const node = await roost.nodePid();
    disk.fill();
    process.kill(node, 'SIGKILL');
    await waitFor('the node to be gone', () => !isAlive(node));
    const { code, stderr } = await roost.roost(['up', '--no-hub']);
    if (code !== 0) expect(stderr).toMatch(/^roost: storage-full: .+\n.+\n$/);
    expect(isAlive(pid ?? 0)).toBe(true);
    disk.free();
    expect(await roost.session('job')).toMatchObject({ id, status: 'running', pid });
    await roost.ok(['send', 'job', 'back', '--enter']);
    await roost.screenShows('job', /^back\nback$/m);
  });
});

describe.runIf(canMount())('a read-only disk', () => {
  it('is refused at start, and named', async () => {
    using disk = new SmallDisk(DISK_MEGABYTES);
    const home = join(disk.path, 'state');
    mkdirSync(home, { mode: 0o700 });
    disk.makeReadOnly();
    await using roost = new RoostHome({ home });
    for (const args of [['up', '--no-hub'], ['ls'], ['run', '--detach', '--', 'cat']]) {
      const { code, stdout, stderr } = await roost.roost(args);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^roost: home-unusable: .+\n.+\n$/);
      expect(stderr).toContain(home);
    }
    await waitFor('the refused node to end', () => roost.daemons().length === 0);
  });

  it('with a state directory that was used before is refused, and works again when it is writable', async () => {
    using disk = new SmallDisk(DISK_MEGABYTES);
    await using roost = new RoostHome({ home: join(disk.path, 'state') });
    const { id, pid } = await roost.run('job', ['cat']);
    await roost.ok(['down']);
    try {
      // A keeper holds its log open for writing, and a mount with such a file cannot be made read-only by itself.
      disk.makeReadOnly();
    } catch {
      await roost.ok(['down', '--sessions']);
      for (const keeper of roost.keeperPids()) process.kill(keeper, 'SIGTERM');
      await waitFor('the keepers to end', () => roost.daemons().length === 0);
      disk.makeReadOnly();
    }
    const { code, stderr } = await roost.roost(['ls']);
    expect([code, stderr.split('\n')[0]]).toEqual([1, expect.stringMatching(/^roost: home-unusable: /)]);
    disk.makeWritable();
    expect(await roost.session('job')).toMatchObject({ id, pid });
  });
});
