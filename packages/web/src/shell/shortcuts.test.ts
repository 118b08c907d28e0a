import { expect, test } from 'vitest';
import { pressKey, type PressedKey } from './shortcuts.ts';

const press = (key: string, rest: Partial<PressedKey> = {}): PressedKey => ({
  key,
  ctrl: false,
  shift: false,
  alt: false,
  isTyping: false,
  isTerminal: false,
  ...rest,
});

test('g and a letter go to a page; another letter does nothing', () => {
  expect(pressKey(false, press('g'))).toEqual({ action: null, isPending: true });
  expect(pressKey(true, press('f')).action).toEqual({ kind: 'go', path: '/fleet' });
  expect(pressKey(true, press('q'))).toEqual({ action: null, isPending: false });
});

test('letters that are typed into a field or a terminal are no shortcuts', () => {
  for (const where of [{ isTyping: true }, { isTerminal: true }])
    for (const key of ['g', 'n', '/', '?']) expect(pressKey(false, press(key, where)).action).toBeNull();
});

test('Ctrl-K opens the palette everywhere but in a terminal, where it belongs to the program', () => {
  expect(pressKey(false, press('k', { ctrl: true, isTyping: true })).action).toEqual({ kind: 'palette' });
  expect(pressKey(false, press('k', { ctrl: true, isTerminal: true })).action).toBeNull();
  expect(pressKey(false, press('K', { ctrl: true, shift: true, isTerminal: true })).action).toEqual({
    kind: 'palette',
  });
});

test('F6 leaves a terminal', () => {
  expect(pressKey(false, press('F6', { isTerminal: true })).action).toEqual({ kind: 'content' });
});
