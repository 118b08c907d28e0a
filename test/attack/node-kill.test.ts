import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { attackCount } from '../support/counts.ts';
import { isAlive, RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const KILLS = attackCount(50, 4);

/**
 * Prints "line 000001", "line 000002", ... every few milliseconds, and starts no process for it: the pause is a read of what nobody
 * writes.
 */
const printer = 'exec {idle}<> <(:); while :; do printf "line %06d\\n" $((++i)); read -t 0.01 -u $idle; done';

function expectConsecutive(text: string, what: string): number {
  const numbers = [...text.matchAll(/^line (\d{6})$/gm)].map(([, digits]) => Number(digits));
  expect(numbers.length, what).toBeGreaterThan(0);
  const [first = 0] = numbers;
  expect(numbers, what).toEqual(numbers.map((_, index) => first + index));
  return numbers.at(-1) ?? 0;
}

describe('kill -9 of the node at random moments', () => {
  it(`loses no process, no attachability, no line, and never lies (${KILLS} times)`, async () => {
    await using roost = new RoostHome();
    const sessions = [
      await roost.run('one', ['bash', '-c', printer]),
      await roost.run('two', ['bash', '-c', printer]),
      await roost.run('pipe', ['bash', '-c', printer], ['--pipe']),
    ];
    let last = 0;
    for (let round = 0; round < KILLS; round += 1) {
      const short = await roost.run(`short-${round}`, [
        'sh',
        '-c',
        `sleep 0.${round % 10}; exit ${round % 100}`,
      ]);
      const pid = await roost.nodePid();
      await delay(Math.random() * 300);
      process.kill(pid, 'SIGKILL');
      await waitFor('the node to be gone', () => !isAlive(pid));
      await roost.ok(['up', '--no-hub']);
      const now = await roost.sessions();
      for (const { id, pid: child } of sessions) {
        expect(now.find((one) => one.id === id)).toMatchObject({ status: 'running', pid: child });
        expect(isAlive(child ?? 0)).toBe(true);
      }
      const told = now.find(({ id }) => id === short.id);
      if (isAlive(short.pid ?? 0)) expect(['running', 'exited']).toContain(told?.status);
      await waitFor('the short one to be told as exited', async () => {
        const session = (await roost.sessions()).find(({ id }) => id === short.id);
        return session?.status === 'exited' && session.exitCode === round % 100;
      });
      for (const { id } of sessions.slice(0, 2)) {
        const grant = await roost.request('session.attach', { sessionId: id, mode: 'watch' });
        expect(grant).toMatchObject({ endpoint: expect.stringContaining('/keepers/') as string });
      }
      // Everything from the first line on, every time: the pipe's output is on disk or still with the keeper.
      const newest = expectConsecutive(await roost.ok(['logs', 'pipe', '--lines', '100000']), 'pipe');
      expect(newest).toBeGreaterThan(last);
      last = newest;
    }
    expect((await roost.ok(['logs', 'pipe', '--lines', '100000'])).startsWith('line 000001\n')).toBe(true);
    for (const name of ['one', 'two'])
      expectConsecutive(await roost.ok(['logs', name, '--lines', '4000']), name);
  });
});
