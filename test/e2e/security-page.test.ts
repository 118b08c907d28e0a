/** docs/security.md names a test for every attack: each is where the page says. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/security.md', root), 'utf8');
const rows = [...page.matchAll(/^\|.*\| `(\S+\.test\.ts)`: (.+?) +\|$/gm)].map(
  ([, file = '', title = '']) => [title, file] as const,
);

it('names some', () => {
  expect(rows.length).toBeGreaterThan(20);
});

it.each(rows)('%s: in %s', (title, file) => {
  expect(readFileSync(new URL(file, root), 'utf8')).toContain(`'${title}'`);
});
