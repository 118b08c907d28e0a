import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplyFilter } from './reply-filter.ts';

function filterOf(cursorQueried = false): (text: string) => string {
  const filter = new ReplyFilter({ cursorQueried });
  return (text) => Buffer.from(filter.filter(Buffer.from(text, 'latin1'))).toString('latin1');
}

const ANSWERS = [
  ...[
    '\x1b[?1;2c',
    '\x1b[?62;22c',
    '\x1b[>0;276;0c',
    '\x1bP!|00000000\x1b\\',
    '\x1b[0n',
    '\x1b[?11n',
    '\x1b[?997;1n',
  ],
  ...['\x1b[12;40R', '\x1b[?12;40R', '\x1b[1;80R', '\x1b[?2026;2$y', '\x1b[4;1$y'],
  ...[
    '\x1b]10;rgb:ffff/ffff/ffff\x1b\\',
    '\x1b]11;rgb:0/0/0\x07',
    '\x1b]4;1;rgb:1/2/3\x07',
    '\x1b]52;c;aGk=\x1b\\',
  ],
  ...['\x1bP>|kitty(0.30)\x1b\\', '\x1bP1$r0m\x1b\\', '\x1bP1+r544e=78\x1b\\', '\x1b_Gi=1;OK\x1b\\'],
  ...[
    '\x1b[?0u',
    '\x1b[?31u',
    '\x1b[8;24;80t',
    '\x1b[4;600;800t',
    '\x1b[48;24;80;600;800t',
    '\x1b[>4;2m',
    '\x1b[>1 q',
  ],
];
const KEYS = [
  ...[
    'a',
    'hello',
    '\r',
    '\t',
    '\x7f',
    '\x03',
    '\xc3\xa9',
    '\x1bx',
    '\x1b\x7f',
    '\x1bO',
    '\x1b\x1b[A',
    '\x1bX',
    '\x1b^',
  ],
  ...['\x1b[A', '\x1b[1;5C', '\x1b[3~', '\x1b[15;2~', '\x1bOP', '\x1bOR', '\x1b[Z', '\x1b[1;2P', '\x1b[R'],
  ...['\x1b[I', '\x1b[O', '\x1b[<0;12;7M', '\x1b[<35;1;1m', '\x1b[M !!', '\x1b[M\xff\x1b[', '\x1b[32;12;7M'],
  ...['\x1b[97;5u', '\x1b[27u', '\x1b[97:65;2:1;65u', '\x1b[1;1:3A', '\x1b[27;5;13~', '\x1b[57414;1u'],
  ...['\x1b[200~paste \x1b[?1;2c \x1b]11;x\x07 \x1b[200~ end\x1b[201~', '\x1b[200~\x1b[201~'],
];

describe('a reply filter', () => {
  it.each(ANSWERS.map((one) => [JSON.stringify(one), one]))('removes %s', (_name, answer) => {
    expect(filterOf()(`x${answer}y`)).toBe('xy');
  });

  it.each(KEYS.map((one) => [JSON.stringify(one), one]))('keeps %s', (_name, key) => {
    expect(filterOf()(`x${key}y`)).toBe(`x${key}y`);
  });

  it('takes F3 with modifiers for a cursor position only while one may come', () => {
    expect(filterOf(false)('\x1b[1;5R')).toBe('\x1b[1;5R');
    expect(filterOf(true)('\x1b[1;5R')).toBe('');
  });

  it('gives exactly the keys, wherever the bytes are cut', () => {
    const piece = fc.oneof(
      fc.constantFrom(...KEYS).map((text) => ({ text, key: true })),
      fc.constantFrom(...ANSWERS).map((text) => ({ text, key: false })),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat({ max: 400 })), (pieces, cuts) => {
        const all = pieces.map(({ text }) => text).join('');
        const expected = pieces.filter(({ key }) => key).map(({ text }) => text);
        const filter = new ReplyFilter({ cursorQueried: false });
        // A chunk that ends in ESC tells the Escape key: see the next test.
        const at = [...new Set(cuts)]
          .filter((cut) => cut < all.length && all[cut - 1] !== '\x1b')
          .sort((a, b) => a - b);
        let out = '';
        let from = 0;
        for (const cut of [...at, all.length]) {
          out += Buffer.from(filter.filter(Buffer.from(all.slice(from, cut), 'latin1'))).toString('latin1');
          from = cut;
        }
        out += Buffer.from(filter.flushPending()).toString('latin1');
        expect(out).toBe(expected.join(''));
      }),
      { numRuns: 3_000 },
    );
  });

  it('sends a lone ESC at once, and still removes the rest of an answer that it began', () => {
    const filter = filterOf();
    expect(filter('\x1b')).toBe('\x1b');
    expect(filter('[?1;2c')).toBe('');
    expect(filter('\x1b')).toBe('\x1b');
    expect(filter('[A')).toBe('[A');
    expect(filter('x\x1b')).toBe('x\x1b');
    expect(filter('[200~\x1b')).toBe('[200~\x1b');
    expect(filter('[201~\x1b[?1;2cz')).toBe('[201~z');
  });

  it('holds the start of a sequence until it is complete or given up', () => {
    const filter = new ReplyFilter({ cursorQueried: false });
    const send = (text: string) => Buffer.from(filter.filter(Buffer.from(text))).toString();
    for (const start of ['\x1b[', '\x1b]', '\x1bP', '\x1b[?1;', '\x1b]11;rgb', '\x1b[M!']) {
      expect(send(`a${start}`)).toBe('a');
      expect(Buffer.from(filter.flushPending()).toString()).toBe(start);
    }
    expect(send('\x1b')).toBe('\x1b');
    expect(Buffer.from(filter.flushPending()).toString()).toBe('');
    expect(send('[A')).toBe('[A');
  });

  it('never holds what is pasted', () => {
    const filter = filterOf();
    expect(filter('\x1b[200~a\x1b[')).toBe('\x1b[200~a\x1b[');
    expect(filter('?1;2c\x1b[20')).toBe('?1;2c\x1b[20');
    expect(filter('1~\x1b[?1;2c.')).toBe('1~.');
  });
});
