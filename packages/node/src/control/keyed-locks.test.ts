import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lock } from '@roost/protocol';
import { KeyedLocks } from './keyed-locks.ts';

const lock = (key: string): Lock => ({ key });
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('keyed locks', () => {
  it('lets those who wait for a key in one by one, in the order in which they came', async () => {
    const locks = new KeyedLocks();
    const order: string[] = [];
    const take = async (name: string) => {
      const release = await locks.acquire([lock('a')]);
      order.push(`${name} in`);
      await turn();
      order.push(`${name} out`);
      release();
    };
    await Promise.all([take('1'), take('2'), take('3')]);
    expect(order).toEqual(['1 in', '1 out', '2 in', '2 out', '3 in', '3 out']);
    expect(locks.size).toBe(0);
  });

  it('keeps other keys free while one waits', async () => {
    const locks = new KeyedLocks();
    const held = await locks.acquire([lock('a')]);
    const waiting = locks.acquire([lock('a')]);
    (await locks.acquire([lock('b')]))();
    held();
    (await waiting)();
  });

  it('gives back once, however often it is told to', async () => {
    const locks = new KeyedLocks();
    const first = await locks.acquire([lock('a')]);
    first();
    const second = await locks.acquire([lock('a')]);
    first();
    let third = false;
    const waiting = locks.acquire([lock('a')]).then((release) => {
      third = true;
      release();
    });
    await turn();
    expect(third).toBe(false);
    second();
    await waiting;
  });

  it('never breaks exclusion, never gets stuck, and leaves nothing behind, whatever is asked in whatever order', async () => {
    const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 5 });
    const request = fc.record({ keys, turns: fc.nat({ max: 3 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 20 }), async (requests) => {
        const locks = new KeyedLocks();
        const held = new Set<string>();
        await Promise.all(
          requests.map(async ({ keys, turns }) => {
            const wanted = new Set(keys);
            const release = await locks.acquire(keys.map(lock));
            for (const key of wanted) {
              expect(held.has(key)).toBe(false);
              held.add(key);
            }
            for (let waited = 0; waited < turns; waited += 1) await turn();
            for (const key of wanted) held.delete(key);
            release();
          }),
        );
        expect(locks.size).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
