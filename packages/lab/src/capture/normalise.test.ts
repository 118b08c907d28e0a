import { expect, test } from 'vitest';
import { Normaliser } from './normalise.ts';

test('the same id becomes the same neutral one, another another; none changes the length of a line', () => {
  const normaliser = new Normaliser();
  const [one, two] = ['0f8fad5b-d9cb-469f-a165-70867728950e', '7c9e6679-7425-40de-944b-e07fc1f90ae7'];
  const line = `│ resume ${one} or ${two}, not ${one} │ ses_5f3a9c01b2ffe7Kq0aBcDeFgHi │ 127.0.0.1:34567 │`;
  const neutral = normaliser.text(line);
  expect(neutral).toHaveLength(line.length);
  expect(neutral).toBe(
    '│ resume 00000000-0000-4000-8000-000000000001 or 00000000-0000-4000-8000-000000000002, ' +
      'not 00000000-0000-4000-8000-000000000001 │ ses_00000000000000000000000001 │ 127.0.0.1:40000 │',
  );
  expect(normaliser.text(neutral)).toBe(neutral);
  expect(normaliser.text(two)).toBe('00000000-0000-4000-8000-000000000002');
});

test('times, durations and long texts lose what differs each time; amounts stay', () => {
  expect(
    new Normaliser().value({
      at: '2031-05-06T07:08:09.123Z',
      startedAt: 1778051289123,
      duration_ms: 4711,
      tokens: 4711,
      prompt: 'x'.repeat(5000),
    }),
  ).toEqual({
    at: '2026-01-01T00:00:00.000Z',
    startedAt: 1767225600000,
    duration_ms: 1,
    tokens: 4711,
    prompt: `${'x'.repeat(200)}… [cut]`,
  });
});
