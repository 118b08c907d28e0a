import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Failure, failure, FailureError } from './failures.ts';

test('a failure can be read by its receiver, however long its details are', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.string({ unit: 'binary', minLength: 4_000, maxLength: 6_000, size: 'max' }),
  );
  const many = fc.array(fc.constant('1'), { minLength: 60, maxLength: 80 });
  const detail = fc.oneof(text, fc.integer(), fc.boolean(), fc.array(text, { maxLength: 3 }), many);
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c'), detail), (details) => {
      const sent = JSON.stringify(new FailureError('command-not-found', details).failure);
      expect(Failure.safeParse(JSON.parse(sent)).success).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test('details within bounds stay as they are; a cut one ends in an ellipsis', () => {
  const details = { command: '/x', pids: ['1', '2'], limit: 3, known: true };
  expect(failure('command-not-found', details)).toMatchObject({ details });
  const pair = `${'x'.repeat(4_094)}😀😀`;
  expect(failure('command-not-found', { command: pair }).details).toEqual({
    command: `${'x'.repeat(4_094)}…`,
  });
});
