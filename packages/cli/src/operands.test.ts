import { describe, expect, test } from 'vitest';
import {
  readCount,
  readEnvironment,
  readInteger,
  readLaunch,
  readName,
  readSeconds,
  readSize,
  splitPassedThrough,
} from './operands.ts';

/** As the program does it: everything is an operand, and how many of them came behind `--` is known. */
function launchOf(...argv: string[]) {
  const { own, passedThrough } = splitPassedThrough(argv);
  return readLaunch([...own, ...(passedThrough ?? [])], passedThrough);
}

describe('what to run', () => {
  test('a provider, with arguments behind --', () => {
    expect(launchOf('claude')).toEqual({ kind: 'provider', provider: 'claude', arguments: [] });
    expect(launchOf('claude', '--', '--model', 'x')).toEqual({
      kind: 'provider',
      provider: 'claude',
      arguments: ['--model', 'x'],
    });
  });

  test('a command behind --, with a further -- of its own', () => {
    expect(launchOf('--', 'git', 'diff', '--', 'x')).toEqual({
      kind: 'command',
      command: ['git', 'diff', '--', 'x'],
    });
  });

  test.each([[[]], [['--']], [['claude', 'more']], [['./script.sh']], [['Claude']]])(
    '%j is refused',
    (argv) => {
      expect(() => launchOf(...argv)).toThrow();
    },
  );
});

test('sizes', () => {
  expect(readSize('80x24')).toEqual({ columns: 80, rows: 24 });
  for (const text of ['80', '0x24', '80x1001', '80x24x2', 'axb', '-1x5', '']) {
    expect(() => readSize(text)).toThrow(/size/);
  }
});

test('environment entries; a name alone takes our own value, which must be there', () => {
  const own = { TOKEN: 't' };
  expect(readEnvironment(['A=1', 'B=x=y', 'C=', 'TOKEN'], own)).toEqual({
    A: '1',
    B: 'x=y',
    C: '',
    TOKEN: 't',
  });
  expect(() => readEnvironment(['ABSENT'], own)).toThrow(/ABSENT is not set/);
  for (const entry of ['=x', '1A=x', 'A-B=x', '']) expect(() => readEnvironment([entry], own)).toThrow();
});

test('numbers, seconds, names', () => {
  expect(readSeconds('1.5')).toBe(1500);
  expect(readCount('0', 10)).toBe(0);
  expect(readInteger('-5')).toBe(-5);
  expect(readName('a.b-c_1')).toBe('a.b-c_1');
  for (const wrong of ['', '-1', 'x', '1e3', '1s']) expect(() => readSeconds(wrong)).toThrow();
  for (const wrong of ['11', '-1', '1.5', '']) expect(() => readCount(wrong, 10)).toThrow();
  for (const wrong of ['', '1.5', '9007199254740993', 'x']) expect(() => readInteger(wrong)).toThrow();
  for (const wrong of ['', '-a', 'a b', 'ä', 'a'.repeat(65)]) expect(() => readName(wrong)).toThrow();
});
