import { expect, test } from 'vitest';
import { FAILURE_CODES, FailureError } from '@roost/protocol';
import { describeFailure } from './failure-report.ts';

test('code and sentence come first, then what to try', () => {
  expect(describeFailure(new FailureError('node-not-running'))).toEqual([
    'roost: node-not-running: No node runs for this state directory.',
    '  roost up   starts it',
  ]);
});

test('what was refused is named before what to try', () => {
  expect(describeFailure(new FailureError('unknown-session', { selector: 'x' }))[1]).toBe(
    '  x: roost ls --all   lists them',
  );
});

test('an ambiguous name lists its candidates', () => {
  const error = new FailureError('ambiguous-session', { candidates: ['a 12ab', 'a 12cd'] });
  expect(describeFailure(error)[1]).toBe('  one of: a 12ab, a 12cd');
});

test('every code makes one or two lines without control characters, whatever the details', () => {
  for (const code of FAILURE_CODES) {
    for (const details of [undefined, { path: '/x\x1b[2J', reason: 'r\n', candidates: ['\x07'] }]) {
      const lines = describeFailure(new FailureError(code, details));
      expect(lines[0]).toMatch(new RegExp(`^roost: ${code}: [A-Z]`));
      expect(lines.length).toBeLessThanOrEqual(2);
      expect(lines.join('')).not.toMatch(/[\x00-\x1f]/);
    }
  }
});

test('whoever is kept out by a controller hears who it is, and how to end that', () => {
  const error = new FailureError('controller-busy', { clientName: 'hub', connectionId: 7, remainingMs: 900 });
  expect(describeFailure(error)[1]).toBe(
    '  hub, connection 7; roost controller   shows who; roost controller break   ends its lease',
  );
});

test('what was not expected says what it was', () => {
  expect(describeFailure(new Error('boom'))[0]).toBe('roost: internal-error: boom');
  expect(describeFailure('text')[0]).toBe('roost: internal-error: text');
});
