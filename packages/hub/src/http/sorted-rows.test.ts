import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SortedRows } from './sorted-rows.ts';

interface Row {
  readonly id: string;
  readonly place: number;
}
const byPlace = (one: Row, other: Row): number =>
  one.place - other.place || (one.id < other.id ? -1 : Number(one.id > other.id));

it('is in order after any changes, with each row once', () => {
  const change = fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    place: fc.integer({ min: 0, max: 3 }),
    isRemoved: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const sorted = new SortedRows<Row, Row>(byPlace);
      const expected = new Map<string, Row>();
      for (const { id, place, isRemoved } of changes) {
        if (isRemoved) {
          sorted.remove(id);
          expected.delete(id);
        } else {
          sorted.put(id, { id, place });
          expected.set(id, { id, place });
        }
      }
      expect(sorted.rows).toEqual([...expected.values()].sort(byPlace));
    }),
  );
});

it('looks at few rows for one change among ten thousand', () => {
  let compared = 0;
  const sorted = new SortedRows<Row, Row>((one, other) => {
    compared += 1;
    return byPlace(one, other);
  });
  for (let count = 0; count < 10_000; count += 1)
    sorted.put(String(count), { id: String(count), place: (count * 7919) % 10_007 });
  compared = 0;
  sorted.put('5000', { id: '5000', place: 1 });
  // To take it out, and to put it in.
  expect(compared).toBeLessThanOrEqual(2 * 15);
});
