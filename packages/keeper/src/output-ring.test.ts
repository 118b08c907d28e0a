import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputRing } from './output-ring.ts';

describe('OutputRing', () => {
  it('holds exactly the newest bytes, whatever the pieces were', () => {
    const capacity = 16 * 1024;
    const pieces = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 30 });
    fc.assert(
      fc.property(pieces, (lengths) => {
        const ring = new OutputRing(capacity);
        let all = Buffer.alloc(0);
        for (const length of lengths) {
          const piece = Buffer.from(Array.from({ length }, (_, index) => (all.length + index) % 251));
          all = Buffer.concat([all, piece]);
          ring.append(piece);
          expect(ring.end).toBe(all.length);
          expect(ring.end - ring.floor).toBeLessThanOrEqual(capacity);
          expect(ring.end - ring.floor).toBeGreaterThanOrEqual(Math.min(all.length, capacity) === 0 ? 0 : 1);
          expect(ring.view(ring.floor, capacity).equals(all.subarray(ring.floor))).toBe(true);
        }
        if (all.length >= capacity) expect(ring.end - ring.floor).toBe(capacity);
      }),
      { numRuns: 200 },
    );
  });

  it('answers a view from the floor when the asked-for bytes have fallen out', () => {
    const ring = new OutputRing(4096);
    ring.append(Buffer.alloc(5000, 'a'));
    ring.append(Buffer.from('end'));
    expect(ring.floor).toBe(5003 - 4096);
    expect(ring.view(0, 10).toString()).toBe('a'.repeat(10));
    expect(ring.view(5000, 10).toString()).toBe('end');
  });

  it('costs nothing before the first byte and little after it', () => {
    const before = process.memoryUsage().arrayBuffers;
    const rings = Array.from({ length: 200 }, () => new OutputRing());
    for (const ring of rings) ring.append(Buffer.from('hello'));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200 * 16 * 1024);
    expect(rings.every((ring) => ring.end === 5)).toBe(true);
  });
});
