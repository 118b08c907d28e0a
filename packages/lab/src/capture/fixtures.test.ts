import { expect, test } from 'vitest';
import { differences } from './fixtures.ts';

const screen = (...lines: string[]) => JSON.stringify({ columns: 80, rows: 24, lines });

test('spinners, numbers and spaces are no difference; a changed line and a new key are', () => {
  const before = new Map([
    ['working.json', screen('⠋ Working (1s)', '──── ', 'old footer')],
    ['turn.jsonl', '{"type":"result","tokens":5}\n'],
    ['gone.json', screen('x')],
  ]);
  const after = new Map([
    ['working.json', screen('⠙ Working (12s)', '────────', 'new footer')],
    ['turn.jsonl', '{"type":"result","tokens":7,"cost":1}\n'],
    ['new.json', screen('x')],
  ]);
  expect(differences(before, after)).toEqual([
    'gone.json: gone',
    'new.json: new',
    'turn.jsonl: + result: .cost number',
    'working.json: - old footer',
    'working.json: + new footer',
  ]);
});
