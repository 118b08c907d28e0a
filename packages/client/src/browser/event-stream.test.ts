import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventStreamReader } from './event-stream.ts';

const TEXT = [
  ': a comment\n\n',
  'id: r-1\r\ndata: {"a":1}\r\n\r\n',
  'event: resync\nid: r-2\ndata: one\ndata: two\n\n',
  'data:no blank\r\r',
  'event: nothing\n\n',
].join('');
const MESSAGES = [
  { event: 'message', id: 'r-1', data: '{"a":1}' },
  { event: 'resync', id: 'r-2', data: 'one\ntwo' },
  { event: 'message', id: 'r-2', data: 'no blank' },
];

test('messages come whole, whatever the pieces in which their text arrives', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(TEXT.length), { maxLength: 8 }), (cuts) => {
      const edges = [0, ...cuts.toSorted((a, b) => a - b), TEXT.length];
      const reader = new EventStreamReader();
      const got = edges.flatMap((edge, index) => reader.push(TEXT.slice(edges[index - 1] ?? 0, edge)));
      expect(got).toEqual(MESSAGES);
    }),
  );
});

test('a message without an end is not kept forever', () => {
  const reader = new EventStreamReader();
  expect(() => {
    for (let piece = 0; piece < 40; piece++) reader.push('x'.repeat(64 * 1024));
  }).toThrow('endless');
});
