import { describe, expect, it } from 'vitest';
import { median, percentile, spread } from './statistics.ts';

describe('percentile', () => {
  it('is the nearest rank, whatever the order of the samples', () => {
    const samples = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentile(samples, 0.5)).toBe(50);
    expect(percentile(samples, 0.99)).toBe(99);
    expect(percentile(samples, 1)).toBe(100);
    expect(percentile(samples, 0)).toBe(1);
  });

  it('refuses an empty sample instead of answering zero', () => {
    expect(() => median([])).toThrow('no samples');
  });
});

describe('median', () => {
  it('is the middle one of an odd count and between the middle ones of an even count', () => {
    expect(median([7])).toBe(7);
    expect(median([3, 100, 2])).toBe(3);
    expect(median([4, 1])).toBe(2.5);
    expect(median([40, 10, 20, 30])).toBe(25);
  });
});

describe('spread', () => {
  it('orders by number, not by text', () => {
    expect(spread([9, 10, 100])).toEqual({ median: 10, min: 9, max: 100 });
  });
});
