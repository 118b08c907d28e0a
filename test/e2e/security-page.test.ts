/** docs/security.md names a test for every attack: each is where the page says. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { testTitles } from '../support/test-titles.ts';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/security.md', root), 'utf8');
const rows = [...page.matchAll(/^\|.*\| `(\S+\.test\.ts)`: (.+?) +\|$/gm)].map(
  ([, file = '', title = '']) => [title, file] as const,
);

it('names some', () => {
  expect(rows.length).toBeGreaterThan(20);
});

it.each(rows)('%s: in %s', (title, file) => {
  expect(testTitles(readFileSync(new URL(file, root), 'utf8'))).toContain(title);
});

it('takes a title for one only where a test has it that runs', () => {
  const source = `
    it('one', () => { expect('in a body').toBe('in a body'); });
    test.each([['in a table']])('two %s', () => undefined);
    it.skipIf(isAway)('three', () => undefined);
    describe('a group', () => { it("four", () => undefined); });
    it.skip('left out', () => undefined);
    test.todo('not yet');
    submit('other', () => undefined);
    // it('a comment', () => undefined);
  `;
  expect(testTitles(source)).toEqual(['one', 'two %s', 'three', 'four']);
});
