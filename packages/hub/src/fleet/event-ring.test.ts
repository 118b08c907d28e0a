import { expect, test } from 'vitest';
import { NODE_ID } from './connection-for-test.ts';
import { EventRing } from './event-ring.ts';

const RUN = 'f'.repeat(16);
const AT = '2026-01-01T00:00:00.000Z';

function ringOf(count: number): EventRing {
  const ring = new EventRing(RUN);
  for (let number = 0; number < count; number += 1)
    ring.publish({ nodeId: NODE_ID, sequence: null, at: AT, body: { kind: 'node-removed' } });
  return ring;
}

test('a cursor answers what came after it, each once and in order', () => {
  const ring = ringOf(3);
  expect(ring.cursor).toEqual({ run: RUN, id: 3 });
  expect(ring.after({ run: RUN, id: 0 })?.map(({ id }) => id)).toEqual([1, 2, 3]);
  expect(ring.after({ run: RUN, id: 2 })?.map(({ id, run }) => [id, run])).toEqual([[3, RUN]]);
  expect(ring.after(ring.cursor)).toEqual([]);
  expect(new EventRing(RUN).after({ run: RUN, id: 0 })).toEqual([]);
});

test('a cursor of another start, or of what is to come, or of what is gone, answers null', () => {
  const ring = ringOf(40_100);
  expect(ring.after({ run: '0'.repeat(16), id: 1 })).toBeNull();
  expect(ring.after({ run: RUN, id: 40_101 })).toBeNull();
  expect(ring.after({ run: RUN, id: 0 })).toBeNull();
  // The last 20,000 are held at least, and never more than twice as many.
  expect(ring.after({ run: RUN, id: 20_100 })).toHaveLength(20_000);
  const oldest = [...Array(40_100).keys()].find((id) => ring.after({ run: RUN, id }) !== null) ?? 0;
  expect(40_100 - oldest).toBeLessThanOrEqual(40_000);
});

test('who listens is told of each event until they no longer want to be', () => {
  const ring = ringOf(0);
  const told: number[] = [];
  const end = ring.listen(({ id }) => {
    told.push(id);
    if (id === 2) end();
  });
  ring.listen(({ id }) => told.push(id * 10));
  for (let number = 0; number < 3; number += 1)
    ring.publish({ nodeId: NODE_ID, sequence: null, at: AT, body: { kind: 'node-removed' } });
  expect(told).toEqual([1, 10, 2, 20, 30]);
});
