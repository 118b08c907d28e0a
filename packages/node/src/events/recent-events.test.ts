import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { RecentEvents } from './recent-events.ts';
import type { StoredEvent } from './stored-event.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const event = (sequence: number, characters = 10): StoredEvent => ({
  sequence,
  text: 'x'.repeat(characters),
  event: () => {
    throw new Error('nobody looks inside');
  },
});

it.each([
  ['number', 10, 1_000_000],
  ['text', 1_000_000, 100],
])('holds nothing of events beyond its bound of %s', async (_, eventsMax, charactersMax) => {
  const recent = new RecentEvents(eventsMax, charactersMax);
  const held: WeakRef<StoredEvent>[] = [];
  for (let sequence = 1; sequence <= 1_000; sequence += 1) {
    const one = event(sequence);
    held.push(new WeakRef(one));
    recent.push(one);
  }
  // What a turn of the loop has looked at stays until its end.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(recent.first).toBe(991);
  // As many again may wait to be cleared away.
  expect(held.filter((one) => one.deref() !== undefined).length).toBeLessThanOrEqual(20);
});

it('holds the newest event whatever its size, and forgets what the journal has forgotten', () => {
  const recent = new RecentEvents(10, 100);
  for (const sequence of [1, 2, 3]) recent.push(event(sequence));
  recent.push(event(4, 1_000));
  expect(recent.first).toBe(4);
  expect(recent.read(3, 10, 1_000).map(({ sequence }) => sequence)).toEqual([4]);
  recent.push(event(5));
  recent.push(event(6));
  recent.dropBefore(6);
  expect(recent.first).toBe(6);
  recent.dropBefore(7);
  expect(recent.first).toBe(Infinity);
  recent.push(event(7));
  expect(recent.read(6, 10, 1_000).map(({ sequence }) => sequence)).toEqual([7]);
});
