import { expect, test } from 'vitest';
import type { Session } from '@roost/protocol';
import { paletteFor } from './paint.ts';
import { lastLines } from './pipe-logs.ts';
import { describeAge, describeBytes } from './quantities.ts';
import { screenText } from './screen-text.ts';
import { describeEnd, describeStatus } from './session-status.ts';

test('the last lines of bytes', () => {
  const last = (text: string, count: number) => lastLines(Buffer.from(text), count).toString();
  expect(last('a\nb\nc\n', 2)).toBe('b\nc\n');
  expect(last('a\nb\nc', 1)).toBe('c');
  expect(last('a\n', 5)).toBe('a\n');
  expect(last('a\n\n\n', 2)).toBe('\n\n');
  expect(last('', 3)).toBe('');
  expect(last('a', 0)).toBe('');
});

test('a screen without its blank end', () => {
  expect(screenText(['a', '', 'b', '', ' '])).toBe('a\n\nb\n');
  expect(screenText(['a', 'b', 'c', ''], 2)).toBe('b\nc\n');
  expect(screenText(['', ''])).toBe('');
});

test('ages and sizes', () => {
  expect([0, 59_000, 60_000, 3_600_000, 47 * 3_600_000, 48 * 3_600_000].map(describeAge)).toEqual([
    '0s',
    '59s',
    '1m',
    '1h',
    '47h',
    '2d',
  ]);
  expect([0, 999, 1000, 1024, 10 * 1024, 5 * 1024 ** 2, 1023.9 * 1024 ** 2].map(describeBytes)).toEqual([
    '0B',
    '999B',
    '1.0K',
    '1.0K',
    '10K',
    '5.0M',
    '1.0G',
  ]);
});

test('how a session stands', () => {
  const session = (fields: Partial<Session>) =>
    describeStatus({ exitCode: null, exitSignal: null, endReason: null, ...fields } as Session);
  expect(session({ status: 'running' })).toBe('running');
  expect(session({ status: 'exited', exitCode: 3 })).toBe('exited 3');
  expect(session({ status: 'exited', exitSignal: 'SIGKILL' })).toBe('exited SIGKILL');
  expect(session({ status: 'exited' })).toBe('exited unknown');
  expect(session({ status: 'lost', endReason: 'keeper-died' })).toBe('lost keeper-died');
  expect(describeEnd({ exitCode: 0, exitSignal: null })).toBe('exited with code 0');
  expect(describeEnd({ exitCode: null, exitSignal: 'SIGHUP' })).toBe('was ended by SIGHUP');
});

test('colours only on a terminal, and not against NO_COLOR', () => {
  expect(paletteFor({ isTTY: true }, {}).good('x')).toBe('\x1b[32mx\x1b[39m');
  expect(paletteFor({ isTTY: true }, { NO_COLOR: '' }).good('x')).toBe('\x1b[32mx\x1b[39m');
  expect(paletteFor({ isTTY: true }, { NO_COLOR: '1' }).good('x')).toBe('x');
  expect(paletteFor({ isTTY: true }, { TERM: 'dumb' }).good('x')).toBe('x');
  expect(paletteFor({ isTTY: false }, {}).good('x')).toBe('x');
});
