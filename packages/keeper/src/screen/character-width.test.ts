import { describe, expect, it } from 'vitest';
import { OpenScreen } from './screen-state.testing.ts';

describe('the width of a character', () => {
  it.each([
    ['a', 1],
    ['é', 1],
    ['e\u0301', 1],
    ['漢', 2],
    ['한', 2],
    ['ｆ', 2],
    ['😀', 2],
    ['✅', 2],
    ['🚀', 2],
    ['🥲', 2],
    ['🫩', 2],
    ['✓', 1],
    ['─', 1],
    ['⠋', 1],
    ['❯', 1],
    ['\ue0b0', 1],
    ['𠀀', 2],
    ['❤\ufe0f', 1],
    ['a\u200b', 1],
  ])('of %j is %i', (text, columns) => {
    expect(new OpenScreen().feed(text).readText(0).cursor.column).toBe(columns);
  });
});
