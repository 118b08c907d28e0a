import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { neutralise, prepareInput } from './input-preparation.ts';

const terminal = { transport: 'pty', bracketedPaste: true } as const;
const bytesOf = (prepared: ReturnType<typeof prepareInput>) => {
  if (prepared.kind !== 'ready') throw new Error(prepared.code);
  return Buffer.concat(prepared.writes.map(({ bytes }) => bytes)).toString();
};

describe('neutralise', () => {
  it.each([
    ['hello', 'hello'],
    ['a\x1b[31m\0b', 'a<ESC>[31m<U+0000>b'],
    ['tab\tline\r\nfeed', 'tab\tline\r\nfeed'],
    ['\x9b31m\x9d0;t\x07', '<CSI>31m<OSC>0;t<U+0007>'],
    ['\x7f\x85', '<U+007F><U+0085>'],
    ['\x1b[201~rm -rf', '<ESC>[201~rm -rf'],
    ['Ж🙂', 'Ж🙂'],
  ])('turns %j into %j', (text, safe) => {
    expect(neutralise(text)).toBe(safe);
  });

  it('leaves no control character but tab, line feed and carriage return, and is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const safe = neutralise(text);
        expect(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/u.test(safe)).toBe(false);
        expect(neutralise(safe)).toBe(safe);
      }),
    );
  });
});

describe('prepareInput', () => {
  it('brackets a paste and presses Enter half a second later, as a write of its own', () => {
    const prepared = prepareInput({ text: 'hello', framing: 'paste', submit: true }, terminal);
    expect(prepared).toEqual({
      kind: 'ready',
      writes: [
        { bytes: Buffer.from('\x1b[200~hello\x1b[201~'), delayBeforeMs: 0 },
        { bytes: Buffer.from('\r'), delayBeforeMs: 500 },
      ],
    });
  });

  it('pastes as a terminal does into a program that did not ask for brackets: a line break is Enter', () => {
    const plain = { transport: 'pty', bracketedPaste: false } as const;
    expect(bytesOf(prepareInput({ text: 'a\nb\r\nc', framing: 'paste', submit: false }, plain))).toBe(
      'a\rb\rc',
    );
  });

  it('refuses control characters in typed text and says where', () => {
    const prepared = prepareInput({ text: 'Жx\n', framing: 'literal', submit: false }, terminal);
    expect(prepared).toEqual({
      kind: 'refused',
      code: 'input-refused',
      details: { index: 3, codePoint: 10 },
    });
  });

  it('presses Enter at once when there is no text', () => {
    expect(prepareInput({ text: '', framing: 'literal', submit: true }, terminal)).toEqual({
      kind: 'ready',
      writes: [{ bytes: Buffer.from('\r'), delayBeforeMs: 0 }],
    });
  });

  it('ends a line for a pipe and leaves the bytes alone', () => {
    const pipe = { transport: 'pipe', bracketedPaste: false } as const;
    expect(bytesOf(prepareInput({ text: '{"a":"\x1b"}', framing: 'literal', submit: true }, pipe))).toBe(
      '{"a":"\x1b"}\n',
    );
  });

  it('refuses a text that neutralising made larger than the limit', () => {
    const prepared = prepareInput(
      { text: '\x1b'.repeat(4 * 1024 * 1024), framing: 'paste', submit: false },
      terminal,
    );
    expect(prepared).toMatchObject({ kind: 'refused', code: 'invalid-request' });
  });
});
