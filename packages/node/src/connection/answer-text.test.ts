import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { AnswerRoom } from '../control/answer-room.ts';
import { answerText } from './answer-text.ts';

it('is what JSON makes of any answer, whether parts of it are known or not', () => {
  const Value = fc.anything({ withDate: true, withNullPrototype: true, withSparseArray: true, maxDepth: 3 });
  const Result = fc.oneof(Value, fc.dictionary(fc.string(), fc.oneof(Value, fc.array(Value))));
  fc.assert(
    fc.property(fc.nat(), Result, fc.infiniteStream(fc.boolean()), (id, result, coins) => {
      const room = new AnswerRoom();
      const lists = typeof result === 'object' && result !== null ? Object.values(result) : [];
      for (const one of lists.flatMap((list: unknown) => (Array.isArray(list) ? (list as unknown[]) : []))) {
        if (typeof one === 'object' && one !== null && coins.next().value === true) room.take(one);
      }
      const frame = { kind: 'response' as const, id, result };
      expect(answerText(frame)).toBe(JSON.stringify(frame));
    }),
    { numRuns: 1_000 },
  );
});

it('takes the text of what is known as it was', () => {
  const record = { name: 'one' };
  new AnswerRoom().take(record);
  // Nobody may change it; this only shows where the text came from.
  record.name = 'two';
  expect(answerText({ kind: 'response', id: 1, result: { records: [record, { name: 'three' }] } })).toBe(
    '{"kind":"response","id":1,"result":{"records":[{"name":"one"},{"name":"three"}]}}',
  );
});
