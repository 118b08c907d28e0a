import { expect, test } from 'vitest';
import { desktopNotification } from './desktop-notification.ts';

test.each([
  [{ TERM_PROGRAM: 'iTerm.app' }, '\x1b]9;roost: a; b\x07'],
  [{ TERM: 'xterm-kitty' }, '\x1b]9;roost: a; b\x07'],
  [{ TERM: 'xterm-256color' }, '\x1b]777;notify;roost;a, b\x07'],
  [{ TMUX: '/tmp/tmux', TERM: 'tmux' }, '\x1bPtmux;\x1b\x1b]777;notify;roost;a, b\x07\x1b\\'],
])('a terminal with %j gets the sequence that it takes', (env, sequence) => {
  expect(desktopNotification('roost', 'a; b', env)).toBe(sequence);
});
