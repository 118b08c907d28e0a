import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
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
  await pool.close(5_000);
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
