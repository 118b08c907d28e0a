import { expect, it } from 'vitest';
import { recordResume } from './record.ts';
import { sessionResume } from './session.ts';

it('a session is resumed through its record, so every failure of that is a failure of this', () => {
  const declared: readonly string[] = sessionResume.failures;
  expect(recordResume.failures.filter((code) => !declared.includes(code))).toEqual([]);
});
