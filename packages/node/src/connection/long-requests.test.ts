import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LONG_REQUESTS_BYTES_MAX, REQUEST_BYTES_MAX, type RequestPart } from '@roost/protocol';
import { LongRequestBudget, LongRequests } from './long-requests.ts';

const part = (id: number, text: string, last = false): RequestPart => ({ kind: 'part', id, text, last });
const MEGABYTE = 'x'.repeat(1024 * 1024);

describe('long requests', () => {
  it('are the text that was cut, wherever, with others in between', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.array(fc.nat()), (text, cuts) => {
        const budget = new LongRequestBudget();
        const requests = new LongRequests(budget, () => 0);
        const places = [...cuts.map((cut) => cut % text.length), 0, text.length].sort((a, b) => a - b);
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
        for (const [index, piece] of pieces.entries()) {
          const last = index === pieces.length - 1;
          const outcome = requests.take(part(1, piece, last));
          if (last) expect(outcome).toMatchObject({ kind: 'whole', text });
          else {
            expect(outcome.kind).toBe('more');
            requests.take(part(2, 'other'));
          }
        }
      }),
    );
  });

  it('of one connection have the room of one; those of all have theirs, which comes back', () => {
    const budget = new LongRequestBudget();
    const connections = [1, 2, 3].map(() => new LongRequests(budget, () => 0));
    const fill = (requests: LongRequests | undefined, id: number, megabytes: number) => {
      for (let count = 0; count < megabytes; count += 1) requests?.take(part(id, MEGABYTE));
      return requests?.take(part(id, '', true));
    };
    const [one, two, three] = connections;
    for (let count = 0; count < 34; count += 1) one?.take(part(1, MEGABYTE));
    expect(fill(one, 2, 1)?.kind).toBe('refused');
    expect(budget.held).toBe(REQUEST_BYTES_MAX);
    expect(fill(two, 1, 34)?.kind).toBe('whole');
    expect(fill(three, 1, 34)?.kind).toBe('refused');
    expect(budget.held).toBe(2 * REQUEST_BYTES_MAX);
    expect(budget.held).toBeLessThanOrEqual(LONG_REQUESTS_BYTES_MAX);
    one?.close();
    expect(fill(three, 1, 34)?.kind).toBe('whole');
    for (const requests of connections) requests.close();
    // What is whole is given back by whoever works on it.
    budget.give(2 * REQUEST_BYTES_MAX);
    expect(budget.held).toBe(0);
  });

  it('stall when the next part does not come in time, and only then', () => {
    const clock = { now: 0 };
    const requests = new LongRequests(new LongRequestBudget(), () => clock.now);
    requests.take(part(1, 'a'));
    clock.now = 19_999;
    requests.take(part(2, 'b'));
    expect(requests.hasStalled).toBe(false);
    clock.now = 20_000;
    expect(requests.hasStalled).toBe(true);
    requests.take(part(1, 'c', true));
    expect(requests.hasStalled).toBe(false);
  });
});
