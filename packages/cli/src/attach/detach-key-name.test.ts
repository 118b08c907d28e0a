import { expect, test } from 'vitest';
import { parseDetachKey } from './detach-key-name.ts';

test.each([
  [undefined, 0x1c, 92],
  ['', 0x1c, 92],
  ['ctrl-]', 0x1d, 93],
  ['Ctrl-A', 1, 97],
  ['c-z', 26, 122],
  ['^_', 31, 95],
])('%s', (text, byte, codePoint) => {
  expect(parseDetachKey(text)).toMatchObject({ byte, codePoint });
});

test.each(['ctrl-m', 'ctrl-i', 'ctrl-[', 'd', 'alt-d', 'ctrl-ab', 'ctrl-1', 'ctrl-'])(
  '%s is refused',
  (text) => {
    expect(() => parseDetachKey(text)).toThrow(/detach key/);
  },
);
