import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EscapeStripper } from './escape-stripper.ts';

function strip(text: string, cuts: readonly number[] = []): string {
  const stripper = new EscapeStripper();
  const bytes = Buffer.from(text);
  const edges = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].sort((a, b) => a - b);
  return edges
    .slice(1)
    .map((edge, index) => stripper.push(bytes.subarray(edges[index], edge)))
    .join('');
}

test.each([
  ['colours and movements', '\x1b[1;31mred\x1b[m\x1b[2J\x1b[10;5H ok', 'red ok'],
  ['titles and links', '\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b', 'ab'],
  ['device strings', '\x1bP+q544e\x1b\\x', 'x'],
  ['charsets and keypad modes', '\x1b(B\x1b=\x1b>a\x1b7b', 'ab'],
  ['line ends', 'a\r\nb\r\r\nc\n', 'a\nb\nc\n'],
  ['a line drawn again', '10%\r20%\r\x1b[K30%\n', '10%\n20%\n30%\n'],
  ['bells, backspaces, tabs', 'a\x07\bb\tc', 'ab\tc'],
  ['an unfinished sequence that is cancelled', '\x1b[12\x18x', 'x'],
  ['a string that another sequence ends', '\x1b]0;t\x1b[1mx', 'x'],
  ['characters of several bytes', '\x1b[1mä日👍', 'ä日👍'],
])('%s', (_, input, output) => {
  expect(strip(input)).toBe(output);
});

test('where the stream is cut changes nothing', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '\x1b[1;2m',
      '\x1b]0;x\x07',
      '\x1b]8;;\x1b\\',
      '\x1b(B',
      '\x1b',
      '\r',
      '\n',
      '\r\n',
      '日',
      '👍',
      '\x18',
    ),
    fc.string({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(100)), (pieces, cuts) => {
      const text = pieces.join('');
      expect(strip(text, cuts)).toBe(strip(text));
    }),
    { numRuns: 1_000 },
  );
});
