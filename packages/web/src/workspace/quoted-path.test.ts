import { expect, test } from 'vitest';
import { unquoted } from './quoted-path.ts';

test('a path that git has quoted is the path again', () => {
  expect(unquoted('"gr\\303\\274n/\\"x\\"\\t.txt"')).toBe('grün/"x"\t.txt');
  expect(unquoted('"back\\\\slash"')).toBe('back\\slash');
});

test('a path without quotes is left as it is', () => {
  expect(unquoted('src/a b.ts')).toBe('src/a b.ts');
});
