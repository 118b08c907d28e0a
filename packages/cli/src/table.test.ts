import fc from 'fast-check';
import { expect, test } from 'vitest';
import { displayWidth, fitToWidth } from './display-width.ts';
import { layOutTable } from './table.ts';

test('columns align, also beside wide characters, and numbers to the right', () => {
  const lines = layOutTable(
    [{ title: 'NAME' }, { title: 'AGE', align: 'right' }, { title: 'T' }],
    [
      [{ text: '日本' }, { text: '1s' }, { text: 'x' }],
      [{ text: 'a' }, { text: '100m' }, { text: 'y' }],
    ],
    80,
  );
  expect(lines).toEqual(['NAME   AGE  T', '日本    1s  x', 'a     100m  y']);
});

test('a narrow terminal cuts the last shrinkable column first, then the one before', () => {
  const columns = [{ title: 'ID' }, { title: 'NAME', shrinksTo: 4 }, { title: 'TITLE', shrinksTo: 0 }];
  const rows = [[{ text: '12345678' }, { text: 'a-long-name' }, { text: 'some title' }]];
  expect(layOutTable(columns, rows, 28)[1]).toBe('12345678  a-long-name  some…');
  expect(layOutTable(columns, rows, 18)[1]).toBe('12345678  a-lon…');
});

test('control characters of others do not act, and paint does not count as width', () => {
  const lines = layOutTable(
    [{ title: 'T' }, { title: 'U' }],
    [[{ text: '\x1b[2Jx', paint: (text) => `\x1b[1m${text}\x1b[22m` }, { text: 'u' }]],
    80,
  );
  expect(lines[1]).toBe('\x1b[1m�[2Jx\x1b[22m  u');
});

test('a cut text never is wider than asked for, and one that fits is left alone', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(30), (text, cells) => {
      const fitted = fitToWidth(text, cells);
      expect(displayWidth(fitted)).toBeLessThanOrEqual(cells);
      if (displayWidth(text) <= cells) expect(fitted).toBe(text);
    }),
  );
});

test.each([
  ['abc', 3],
  ['日本', 4],
  ['é', 1],
  ['👩‍👩‍👧‍👦', 2],
  ['✅', 2],
  ['❤️', 2],
  ['한', 2],
  ['', 0],
])('%s is %i cells wide', (text, cells) => {
  expect(displayWidth(text)).toBe(cells);
});
