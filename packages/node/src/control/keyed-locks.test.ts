import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lock } from '@roost/protocol';
import { KeyedLocks } from './keyed-locks.ts';

const exclusive = (key: string): Lock => ({ key, mode: 'exclusive' });
const shared = (key: string): Lock => ({ key, mode: 'shared' });
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('keyed locks', () => {
  it('lets shared holders in together and keeps an exclusive one out', async () => {
    const locks = new KeyedLocks();
    const order: string[] = [];
    const first = await locks.acquire([shared('a')]);
    const second = await locks.acquire([shared('a')]);
    const third = locks.acquire([exclusive('a')]).then((release) => {
      order.push('exclusive');
      return release;
    });
    await turn();
    expect(order).toEqual([]);
    first();
    await turn();
    expect(order).toEqual([]);
    second();
    (await third)();
    expect(locks.size).toBe(0);
  });

  it('lets nobody overtake a waiting exclusive one', async () => {
    const locks = new KeyedLocks();
    const order: string[] = [];
    const take = async (name: string, lock: Lock) => {
      const release = await locks.acquire([lock]);
      order.push(name);
      await turn();
      release();
    };
    await Promise.all([
      take('s1', shared('a')),
      take('x', exclusive('a')),
      take('s2', shared('a')),
      take('s3', shared('a')),
    ]);
    expect(order).toEqual(['s1', 'x', 's2', 's3']);
  });

  it('keeps other keys free while one waits', async () => {
    const locks = new KeyedLocks();
    const held = await locks.acquire([exclusive('a')]);
    const waiting = locks.acquire([exclusive('a')]);
    (await locks.acquire([exclusive('b')]))();
    held();
    (await waiting)();
  });

  it('gives back once, however often it is told to', async () => {
    const locks = new KeyedLocks();
    const first = await locks.acquire([exclusive('a')]);
    first();
    const second = await locks.acquire([exclusive('a')]);
    first();
    let third = false;
    const waiting = locks.acquire([exclusive('a')]).then((release) => {
      third = true;
      release();
    });
    await turn();
    expect(third).toBe(false);
    second();
    await waiting;
  });

  it('never breaks exclusion, never gets stuck, and leaves nothing behind, whatever is asked in whatever order', async () => {
    const lock = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd'),
      mode: fc.constantFrom('shared' as const, 'exclusive' as const),
    });
    const request = fc.record({ locks: fc.array(lock, { maxLength: 5 }), turns: fc.nat({ max: 3 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 20 }), async (requests) => {
        const locks = new KeyedLocks();
        const holders = new Map<string, { shared: number; exclusive: number }>();
        const count = (wanted: readonly Lock[], by: number) => {
          const modes = new Map<string, Lock['mode']>();
          for (const { key, mode } of wanted) if (modes.get(key) !== 'exclusive') modes.set(key, mode);
          for (const [key, mode] of modes) {
            const now = holders.get(key) ?? { shared: 0, exclusive: 0 };
            now[mode] += by;
            holders.set(key, now);
            expect(now.exclusive === 0 || (now.exclusive === 1 && now.shared === 0)).toBe(true);
          }
        };
        await Promise.all(
          requests.map(async ({ locks: wanted, turns }) => {
            const release = await locks.acquire(wanted);
            count(wanted, 1);
            for (let waited = 0; waited < turns; waited += 1) await turn();
            count(wanted, -1);
            release();
          }),
        );
        expect(locks.size).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
