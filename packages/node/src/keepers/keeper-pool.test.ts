import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { readProcessTable } from '@roost/keeper/processes';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bundledKeeper, failureOf, TestHome } from '../node-for-test.ts';
import type { KeeperEvents } from './keeper-link.ts';
import { KeeperPool } from './keeper-pool.ts';

let home: TestHome;
let pool: KeeperPool;

const makePool = (connected: KeeperEvents['connected']) => {
  const directory = join(home.path, 'keepers');
  mkdirSync(directory, { mode: 0o700 });
  const quiet = () => undefined;
  return new KeeperPool({
    directory,
    script: bundledKeeper,
    version: '0.0.0-test',
    keepersMax: 2,
    log: pino({ level: 'silent' }),
    events: { connected, changed: quiet, output: quiet, dead: quiet },
  });
};

beforeEach(() => {
  home = new TestHome();
});
afterEach(async () => {
  await pool.close();
  await home.remove();
});

it('gives up on a placement whose keepers are lost as soon as they have answered', async () => {
  let answered = 0;
  pool = makePool((link) => {
    answered += 1;
    link.close();
  });
  expect(await failureOf(pool.place())).toBe('keeper-unavailable');
  expect(answered).toBe(3);
});

it('places on the first keeper that stays', async () => {
  let answered = 0;
  pool = makePool((link) => {
    answered += 1;
    if (answered < 3) link.close();
  });
  const link = await pool.place();
  expect(link).toMatchObject({ isConnected: true, reserved: 1 });
  expect(answered).toBe(3);
});

describe('closed while a keeper starts', () => {
  const directory = () => join(home.path, 'keepers');
  const namesOf = (end: string) => readdirSync(directory()).filter((name) => name.endsWith(end));
  /** This process is their parent until it ends, whatever they call themselves. */
  const ownChildren = () =>
    [...readProcessTable().values()]
      // The table itself may come from a child.
      .filter(({ parentPid, name }) => parentPid === process.pid && name !== 'ps')
      .map(({ pid }) => pid);

  it.each([
    ['at once', () => true],
    ['as it tells who it is', () => namesOf('.json').length > 0],
    ['as it listens', () => namesOf('.sock').length > 0],
  ])('leaves no process that nobody knows: %s', async (_, isMoment) => {
    const before = ownChildren();
    const started = () => ownChildren().filter((pid) => !before.includes(pid));
    pool = makePool(() => undefined);
    pool.prewarm();
    expect(started()).toHaveLength(1);
    await vi.waitUntil(isMoment, { interval: 1, timeout: 10_000 });
    await pool.close();
    const left = started();
    expect(left).toEqual(home.keepers.map(({ pid }) => pid));
    // One that had answered goes on; of one that had not, nothing is left.
    if (left.length === 0) expect(readdirSync(directory())).toEqual([]);
  });

  it('refuses whoever waits for that keeper', async () => {
    pool = makePool(() => undefined);
    const placed = failureOf(pool.place());
    await pool.close();
    expect(await placed).toBe('shutting-down');
  });

  it('refuses further placements, and ends none of the keepers that it had', async () => {
    pool = makePool(() => undefined);
    await pool.place();
    const had = home.keepers;
    expect(had).toHaveLength(1);
    await pool.close();
    expect(await failureOf(pool.place())).toBe('shutting-down');
    expect(home.keepers).toEqual(had);
  });
});
