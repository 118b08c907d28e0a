import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InputParser, type Token } from './input-parser.ts';

const parse = (...chunks: readonly Buffer[]): Token[] => {
  const parser = new InputParser();
  return [...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.flushEscape()];
};

/** Text comes in as many tokens as there were reads; what counts is the text. */
const joined = (tokens: readonly Token[]): unknown[] =>
  tokens.reduce<unknown[]>((all, token) => {
    const last = all.at(-1);
    if (token.kind !== 'text')
      all.push(token.kind === 'paste' ? { paste: token.bytes.toString('hex') } : token);
    else if (typeof last === 'string') all[all.length - 1] = last + token.bytes.toString('hex');
    else all.push(token.bytes.toString('hex'));
    return all;
  }, []);

const piece = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '\r',
    '\n',
    '\x7f',
    '\x03',
    '\x1b',
    '\x1b[A',
    '\x1bOP',
    '\x1b[I',
    '\x1b[?62;4c',
    '\x1b[12;40R',
    '\x1b[13u',
  ),
  fc.constantFrom(
    '\x1b]11;rgb:0000/0000/0000\x1b\\',
    '\x1b]10;rgb:ff/ff/ff\x07',
    '\x1b[?1u',
    '\x1b[200~',
    '\x1b[201~',
    '\x1b[20',
  ),
);

test('the tokens do not depend on how the bytes were cut into reads', () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 12 }),
      fc.array(fc.nat(200), { maxLength: 12 }),
      (parts, cuts) => {
        const bytes = Buffer.from(parts.join(''));
        const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(joined(parse(...chunks))).toEqual(joined(parse(bytes)));
      },
    ),
  );
});

test('a pasted body comes out byte for byte, cut anywhere', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 1, max: 20 }), (body, size) => {
      const content = Buffer.from(body);
      fc.pre(!content.includes('\x1b[201~'));
      // A body that ends in the beginning of the end marker is told from it only by what follows.
      const bytes = Buffer.concat([Buffer.from('\x1b[200~'), content, Buffer.from('\x1b[201~')]);
      fc.pre(bytes.indexOf('\x1b[201~') === 6 + content.length);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      expect(parse(...chunks)).toEqual([{ kind: 'paste', bytes: content }]);
    }),
  );
});

test.each([
  ['\x1b[?62;22c', 'da1'],
  ['\x1b[3;7R', 'dsr'],
  ['\x1b]10;rgb:ffff/ffff/ffff\x1b\\', 'osc10'],
  ['\x1b]11;rgb:0/0/0\x07', 'osc11'],
  ['\x1b[?0u', 'kitty'],
])('%j is the answer to %s', (text, query) => {
  expect(parse(Buffer.from(text))).toEqual([{ kind: 'answer', query, text }]);
});
