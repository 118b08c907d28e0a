import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fragment, unfinished } from './screen-state.testing.ts';
import { splitAtSequenceBoundary } from './sequence-boundary.ts';

/** Byte by byte, with every state spelled out. */
function slowBoundary(bytes: Uint8Array): number {
  type State = 'ground' | 'escape' | 'intermediate' | 'control' | 'string' | 'osc' | 'single';
  let state: State = 'ground';
  let lacking = 0;
  let boundary = 0;
  bytes.forEach((byte, at) => {
    if (byte === 0x1b) {
      state = 'escape';
      lacking = 0;
    } else if (state === 'ground' || (byte >= 0xc0 && state !== 'string' && state !== 'osc')) {
      state = 'ground';
      if (lacking > 0 && byte >= 0x80 && byte < 0xc0) lacking--;
      else
        lacking =
          byte >= 0xf0 && byte <= 0xf4
            ? 3
            : byte >= 0xe0 && byte < 0xf0
              ? 2
              : byte >= 0xc2 && byte < 0xe0
                ? 1
                : 0;
    } else if (byte === 0x18 || byte === 0x1a) {
      state = 'ground';
    } else if (state === 'escape' || state === 'intermediate') {
      const first = state === 'escape';
      if (first && byte === 0x5b) state = 'control';
      else if (first && byte === 0x5d) state = 'osc';
      else if (first && (byte === 0x50 || byte === 0x58 || byte === 0x5e || byte === 0x5f)) state = 'string';
      else if (first && (byte === 0x4e || byte === 0x4f)) state = 'single';
      else if (byte < 0x30 || byte === 0x7f) state = 'intermediate';
      else state = 'ground';
    } else if (state === 'control') {
      if (byte >= 0x40 && byte !== 0x7f) state = 'ground';
    } else if (state === 'single') {
      state = 'ground';
    } else if (state === 'osc' && byte === 0x07) {
      state = 'ground';
    }
    if (state === 'ground' && lacking === 0) boundary = at + 1;
  });
  return boundary;
}

describe('splitAtSequenceBoundary', () => {
  it.each([
    ['', 0],
    ['text', 4],
    ['text\x1b', 4],
    ['a\x1b[31', 1],
    ['a\x1b[31m', 6],
    ['a\x1b]2;title', 1],
    ['a\x1b]2;title\x1b', 1],
    ['a\x1b]2;title\x1b\\', 12],
    ['a\x1b]2;title\x07b', 12],
    ['a\x1bP1$r', 1],
    ['a\x1b_x\x1b\\\x1bX', 6],
    ['\x1b(', 0],
    ['\x1b(B', 3],
    ['\x1bO', 0],
    ['\x1bOA', 3],
  ])('cuts %j at %i', (text, expected) => {
    expect(splitAtSequenceBoundary(Buffer.from(text, 'latin1'))).toBe(expected);
  });

  it('does not cut characters', () => {
    const bytes = Buffer.from('aé漢😀');
    expect(
      [...bytes.keys(), bytes.length].map((end) => splitAtSequenceBoundary(bytes.subarray(0, end))),
    ).toEqual([0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10]);
  });

  it('finds what a state machine finds, at every cut', () => {
    const piece = fc.oneof(fragment, unfinished);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.nat({ max: 120 }), (pieces, cut) => {
        const bytes = Buffer.from(pieces.join('')).subarray(0, cut);
        expect(splitAtSequenceBoundary(bytes)).toBe(slowBoundary(bytes));
      }),
      { numRuns: 5_000 },
    );
  });

  it('gives up on a string that does not end', () => {
    const start = 'text\x1b]52;c;';
    expect(splitAtSequenceBoundary(Buffer.from(start + 'A'.repeat(1_000)))).toBe(4);
    const long = Buffer.from(start + 'A'.repeat(70_000));
    expect(splitAtSequenceBoundary(long)).toBe(long.length);
    expect(splitAtSequenceBoundary(Buffer.concat([long, Buffer.from('\x1b')]))).toBe(long.length + 1);
  });
});
