import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fragment, OpenScreen } from './screen-state.testing.ts';
import { skippablePrefix } from './skip-ahead.ts';

const ROWS = 6;
const SCROLLBACK = 40;
const KEPT = { rows: ROWS, scrollbackLines: SCROLLBACK };

function bigBlock(lines: readonly string[], end: string): Buffer {
  const once = lines.join('');
  return Buffer.from(once.repeat(Math.ceil((256 * 1024) / Buffer.byteLength(once))) + end);
}

describe('skippablePrefix', () => {
  const word = fc.constantFrom('plain', 'é漢字', 'x'.repeat(45), '\t', ' ', '', 'a\u0300', '\r');
  const line = fc
    .tuple(fc.array(word, { maxLength: 4 }), fc.constantFrom('\r\n', '\r\n', '\n'))
    .map(([words, end]) => words.join('') + end);

  it('changes nothing of the screen, whatever it was before', () => {
    fc.assert(
      fc.property(
        fc.array(fragment, { maxLength: 15 }),
        fc.array(line, { minLength: 3, maxLength: 40 }),
        fc.string({ maxLength: 50, unit: fc.constantFrom('a', '字', ' ') }),
        (before, lines, end) => {
          const block = bigBlock([...lines, 'line\r\n'], end);
          const cut = skippablePrefix(block, KEPT);
          expect(cut).toBeGreaterThan(block.length / 4);
          const [whole, skipping] = [new OpenScreen(), new OpenScreen()].map((one) =>
            one.feed(before.join('')),
          );
          if (whole === undefined || skipping?.scrollsFreely !== true) return;
          whole.write(block);
          skipping.write(block.subarray(cut));
          expect(skipping.state(SCROLLBACK)).toEqual(whole.state(SCROLLBACK));
          expect(skipping.drawn()).toBe(whole.drawn());
          expect(skipping.readText(SCROLLBACK)).toEqual(whole.readText(SCROLLBACK));
        },
      ),
      { numRuns: 15 },
    );
  });

  it('skips nothing of a small block, or of one with anything but text', () => {
    expect(skippablePrefix(Buffer.from('line\r\n'.repeat(1_000)), KEPT)).toBe(0);
    for (const control of ['\x1b[1m', '\x07', '\b', '\x0e', '\x00', '\x7f', '\u009b']) {
      expect(skippablePrefix(bigBlock([`text${control}\r\n`], ''), KEPT)).toBe(0);
    }
    expect(skippablePrefix(bigBlock(['one endless line'], ''), KEPT)).toBe(0);
    expect(skippablePrefix(bigBlock(['never from the first column\n'], ''), KEPT)).toBe(0);
  });
});
