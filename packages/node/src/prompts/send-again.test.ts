import { expect, test } from 'vitest';
import { findProvider, isReadable } from '@roost/providers';
import { isUnsent } from './send-again.ts';

const claude = findProvider('claude');
const rule = '─'.repeat(40);
const unsent = (composer: string, text: string, footer = '  ? for shortcuts') =>
  isReadable(claude) && isUnsent(claude, { lines: ['', rule, composer, rule, footer], title: null }, text);

test('Enter is pressed again only while exactly what was pasted stands in a composer that waits', () => {
  expect(unsent('❯ look at README.md ', 'look at @README.md')).toBe(true);
  expect(unsent('❯ a path C:', 'a path C:\\')).toBe(true);
  expect(unsent('❯ ', 'look at it')).toBe(false);
  expect(unsent('❯ ', '...')).toBe(false);
  expect(unsent('❯ half a thought', 'look at it')).toBe(false);
  expect(unsent('❯ look at it, and more', 'look at it')).toBe(false);
  expect(unsent('❯ look at it', 'look at it', '  esc to interrupt')).toBe(false);
});
