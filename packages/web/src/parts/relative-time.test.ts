import { expect, test } from 'vitest';
import { spanChangesIn, spanText } from './relative-time.ts';

test('a span is told in its largest whole unit', () => {
  const texts = [-5, 4_999, 5_000, 59_999, 60_000, 3_599_999, 3_600_000, 86_399_999, 86_400_000].map(
    spanText,
  );
  expect(texts).toEqual(['now', 'now', '5 s', '59 s', '1 min', '59 min', '1 h', '23 h', '1 d']);
});

test('after the time that is told, and no earlier than a second, the text may be another one', () => {
  for (const span of [0, 30_000, 61_000, 3_599_000, 7_300_000, 90_000_000]) {
    const later = spanChangesIn(span);
    expect(later).toBeGreaterThanOrEqual(1_000);
    expect(later).toBeLessThanOrEqual(3_600_050);
  }
  expect(spanText(61_000 + spanChangesIn(61_000))).toBe('2 min');
});
