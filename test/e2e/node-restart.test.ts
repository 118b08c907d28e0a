import type { Session } from '@roost/protocol';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlive, RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

let roost: RoostHome;
beforeEach(() => {
  roost = new RoostHome();
});
afterEach(() => roost[Symbol.asyncDispose]());

const killed = async (pid: number) => {
  process.kill(pid, 'SIGKILL');
  await waitFor('the process to be gone', () => !isAlive(pid));
};

describe('a node restart', () => {
  it('does not interrupt an attached client', async () => {
    await roost.run('a', ['cat']);
    const terminal = roost.terminal(['attach', 'a']);
    await waitFor('the client', async () => (await roost.session('a')).attachedClients === 1);
    terminal.type('before\r');
    await terminal.shows(/before\s+before/);
    await killed(await roost.nodePid());
    terminal.type('while down\r');
    await terminal.shows(/while down\s+while down/);
    await roost.ok(['up', '--no-hub']);
    expect((await roost.session('a')).attachedClients).toBe(1);
    terminal.type('after\r');
    await terminal.shows(/after\s+after/);
    // Ctrl-\, r: the screen anew, by a ticket of the node that serves now.
    terminal.type('\x1cr');
    terminal.type('anew\r');
    await terminal.shows(/after\s+after\s+anew\s+anew/);
    expect((await roost.session('a')).attachedClients).toBe(1);
  });

  it('leaves room at the node for others, however many terminals are attached', async () => {
    mkdirSync(roost.home, { mode: 0o700 });
    writeFileSync(join(roost.home, 'config.json'), JSON.stringify({ connections: { max: 2 } }));
    await roost.run('a', ['cat']);
    const terminals = [0, 1, 2, 3].map(() => roost.terminal(['attach', '--watch', 'a']));
    await waitFor('all to be attached', async () => (await roost.session('a')).attachedClients === 4);
    expect(terminals).toHaveLength(4);
  });

  it('tells what ended meanwhile, with its code and its tail', async () => {
    const session = await roost.run('short', ['sh', '-c', 'read x; echo "last words $x"; exit 9']);
    const terminal = roost.terminal(['attach', 'short']);
    await waitFor('the client', async () => (await roost.session('short')).attachedClients === 1);
    await killed(await roost.nodePid());
    terminal.type('now\r');
    await terminal.ended();
    await waitFor('the child to end', () => !isAlive(session.pid ?? 0));
    const after = await roost.session('short');
    expect(after).toMatchObject({ id: session.id, status: 'exited', exitCode: 9 });
    expect(await roost.ok(['logs', 'short'])).toContain('last words now');
  });

  it('keeps the session of a killed keeper as lost, others untouched, and serves new ones', async () => {
    // Enough sessions for a second keeper where there is a second core.
    const sessions: Session[] = [];
    for (let index = 0; index < 5; index += 1)
      sessions.push(await roost.run(`s${index}`, ['sh', '-c', 'while :; do sleep 1; done']));
    const { keepers } = await roost.json<{ keepers: { id: string; pid: number }[] }>(['status']);
    const doomed = keepers.find(({ id }) => id === sessions[0]?.keeperId);
    if (doomed === undefined) throw new Error('no keeper');
    process.kill(doomed.pid, 'SIGKILL');
    await waitFor('the loss to be told', async () =>
      (await roost.sessions())
        .filter(({ keeperId }) => keeperId === doomed.id)
        .every(({ status }) => status === 'lost'),
    );
    for (const { id, keeperId, pid } of sessions) {
      const now = (await roost.sessions()).find((one) => one.id === id);
      if (keeperId === doomed.id) {
        expect(now).toMatchObject({ status: 'lost', endReason: 'keeper-died' });
        await waitFor('its processes to be ended', () => !isAlive(pid ?? 0));
      } else {
        expect(now).toMatchObject({ status: 'running', pid });
        expect(isAlive(pid ?? 0)).toBe(true);
      }
    }
    const fresh = await roost.run('fresh', ['sh', '-c', 'echo served; read x']);
    expect(fresh.keeperId).not.toBe(doomed.id);
    await roost.screenShows('fresh', /served/);
  });
});
