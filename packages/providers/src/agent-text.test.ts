import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundText, byteLength, cleanText, cutToBytes, eventName, eventPieces } from './agent-text.ts';

test('keeps newlines and tabs, and nothing else that a terminal obeys', () => {
  expect(cleanText('a\tb\nc\r\nd\re\u0007\u001b[31mred\u001b[0m\u001b]0;title\u0007!\u009b\u007f')).toBe(
    'a\tb\nc\nd\nered!',
  );
});

test('cuts on the border of a character, never above the bound', () => {
  expect(cutToBytes('aé👋', 2)).toBe('a');
  expect(cutToBytes('aé👋', 6)).toBe('aé');
  expect(cutToBytes('aé👋', 7)).toBe('aé👋');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 3, max: 40 }), (text, max) => {
      const bound = boundText(text, max);
      expect(byteLength(bound)).toBeLessThanOrEqual(max);
      expect(bound.isWellFormed()).toBe(true);
      if (bound !== cleanText(text)) expect(bound.endsWith('…')).toBe(true);
    }),
  );
});

test('pieces are the whole text again', () => {
  const text = '👋é'.repeat(40_000);
  const pieces = eventPieces(text);
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join('')).toBe(text);
});

test('half a character is replaced, so that a text can be encoded', () => {
  expect(cleanText('a\ud83d')).toBe('a\ufffd');
});

test('a name without anything in it is none', () => {
  expect(eventName(' \n\u0000')).toBeNull();
  expect(eventName('a\nb')).toBe('a b');
});
