import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDetachKey } from './detach-key-name.ts';
import { DetachKeys, type KeyAction } from './detach-keys.ts';

const CTRL_BACKSLASH = parseDetachKey(undefined);

/** What comes out, sent bytes joined: `<detach>` and the like stand for commands. */
function show(actions: readonly KeyAction[]): string {
  return actions
    .map((action) =>
      action.kind === 'send' ? Buffer.from(action.bytes).toString('latin1') : `<${action.kind}>`,
    )
    .join('');
}

function typed(text: string, options: { key?: string; cuts?: number[] } = {}): string {
  const keys = new DetachKeys(parseDetachKey(options.key));
  const bytes = Buffer.from(text, 'latin1');
  const edges = [0, ...(options.cuts ?? []), bytes.length].sort((a, b) => a - b);
  const actions = edges.slice(1).flatMap((edge, index) => keys.push(bytes.subarray(edges[index], edge)));
  return show([...actions, ...keys.flush()]);
}

describe('the detach key', () => {
  test.each([
    ['d detaches', 'ab\x1cd', 'ab<detach>'],
    ['t takes over', '\x1ctab', '<take-over>ab'],
    ['a asks to drive, and h hands over', '\x1ca\x1ch', '<ask><hand-over>'],
    ['r redraws', '\x1cr', '<redraw>'],
    ['twice is sent once', 'a\x1c\x1cd', 'a\x1cd'],
    ['anything else goes through with it', '\x1cx\x1cD', '\x1cx\x1cD'],
    ['goes through before an arrow key', '\x1c\x1b[A', '\x1c\x1b[A'],
    ['goes through before a multi-byte character', '\x1c\xc3\xa9d', '\x1c\xc3\xa9d'],
    ['kitty keyboard protocol', '\x1b[92;5u\x1b[100u', '<detach>'],
    ['kitty protocol, plain letter', '\x1b[92;5ud', '<detach>'],
    ['kitty protocol with Caps Lock and Num Lock on', '\x1b[92;197ud', '<detach>'],
    ['kitty protocol with alternates and text', '\x1b[92:124:92;5:1u\x1b[100;1;100u', '<detach>'],
    [
      'kitty protocol with releases and modifiers between',
      '\x1b[57442;5u\x1b[92;5:1u\x1b[92;5:3u\x1b[57442;1:3u\x1b[100;1:1u',
      '\x1b[57442;5u<detach>',
    ],
    ['kitty protocol, twice', '\x1b[92;5u\x1b[92;5u', '\x1b[92;5u'],
    ['kitty protocol, else', '\x1b[92;5u\x1b[92;5:3ux', '\x1b[92;5u\x1b[92;5:3ux'],
    ['kitty protocol with Shift is another key', '\x1b[92;6ud', '\x1b[92;6ud'],
    ['a letter with Control is no command', '\x1c\x1b[100;5u', '\x1c\x1b[100;5u'],
    ['modifyOtherKeys', '\x1b[27;5;92~d', '<detach>'],
    ['modifyOtherKeys with another key', '\x1b[27;5;93~d', '\x1b[27;5;93~d'],
    ['Escape right before it', '\x1b\x1cd', '\x1b<detach>'],
  ])('%s', (_, input, output) => {
    expect(typed(input)).toBe(output);
  });

  test('another one leaves the default to the program', () => {
    expect(typed('\x1cd\x01d', { key: 'ctrl-a' })).toBe('\x1cd<detach>');
    expect(typed('\x1b[97;5u\x1b[100u', { key: '^A' })).toBe('<detach>');
  });
});

describe('a bracketed paste', () => {
  test('is never read as commands', () => {
    const paste = '\x1b[200~one\x1cd\x1b[92;5ud\x1b[201\x1b[201~';
    expect(typed(`${paste}\x1cd`)).toBe(`${paste}<detach>`);
  });

  test('right after the key goes through with it', () => {
    expect(typed('\x1c\x1b[200~d\x1b[201~d')).toBe('\x1c\x1b[200~d\x1b[201~d');
  });
});

describe('bytes that are held back', () => {
  test('a lone Escape goes out when nothing follows, and only then', () => {
    const keys = new DetachKeys(CTRL_BACKSLASH);
    expect(show(keys.push(Buffer.from('\x1b')))).toBe('');
    expect(keys.undecided).toBe(true);
    expect(show(keys.flush())).toBe('\x1b');
    expect(keys.undecided).toBe(false);
    expect(show(keys.push(Buffer.from('[92;5ud')))).toBe('[92;5ud');
  });

  test('the key itself waits for its letter for as long as it takes', () => {
    const keys = new DetachKeys(CTRL_BACKSLASH);
    expect(show(keys.push(Buffer.from('\x1c')))).toBe('');
    expect(keys.undecided).toBe(false);
    expect(show(keys.flush())).toBe('');
    expect(show(keys.push(Buffer.from('d')))).toBe('<detach>');
  });

  test('the mark of a paste counts even when its first half had to go out', () => {
    const keys = new DetachKeys(CTRL_BACKSLASH);
    const out = [
      ...keys.push(Buffer.from('\x1b[20')),
      ...keys.flush(),
      ...keys.push(Buffer.from('0~\x1cd\x1b[201~\x1cd')),
    ];
    expect(show(out)).toBe('\x1b[200~\x1cd\x1b[201~<detach>');
  });

  test('a key whose first half had to go out is no command any more', () => {
    const keys = new DetachKeys(CTRL_BACKSLASH);
    const out = [...keys.push(Buffer.from('\x1b[92')), ...keys.flush(), ...keys.push(Buffer.from(';5ud'))];
    expect(show(out)).toBe('\x1b[92;5ud');
  });

  test('a sequence without end is not kept', () => {
    const endless = `\x1b[${'1;'.repeat(500)}`;
    expect(typed(`${endless}\x1cd`)).toBe(`${endless}<detach>`);
  });
});

const piece = fc.oneof(
  fc.constantFrom(
    '\x1c',
    'd',
    't',
    '\x1b',
    '[',
    '\x1b[',
    '\x1b[92;5u',
    '\x1b[100u',
    '\x1b[27;5;92~',
    '\x1b[92;5:3u',
  ),
  fc.constantFrom(
    '\x1b[200~',
    '\x1b[201~',
    '\x1b[A',
    '\x1bOP',
    '\x1b[<0;1;2M',
    '\x1b]11;rgb:0/0/0\x1b\\',
    '1;',
    '~',
  ),
  fc.string({
    maxLength: 3,
    unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  }),
);

test('how the bytes are cut changes nothing', () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 20 }),
      fc.array(fc.nat(200), { maxLength: 10 }),
      (pieces, cuts) => {
        const text = pieces.join('');
        const inside = cuts.map((cut) => Math.min(cut, text.length));
        expect(typed(text, { cuts: inside })).toBe(typed(text));
      },
    ),
    { numRuns: 2_000 },
  );
});

test('without the key, every byte goes through as it came, whatever is flushed in between', () => {
  const plain = piece.filter((text) => !/\x1c|92/.test(text));
  fc.assert(
    fc.property(fc.array(fc.tuple(plain, fc.boolean()), { maxLength: 30 }), (pieces) => {
      const keys = new DetachKeys(CTRL_BACKSLASH);
      const out = pieces.flatMap(([text, flush]) => [
        ...keys.push(Buffer.from(text, 'latin1')),
        ...(flush ? keys.flush() : []),
      ]);
      const text = pieces.map(([one]) => one).join('');
      expect(show([...out, ...keys.flush()])).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});
