import { expect, it } from 'vitest';
import { Refusals } from './refusals.ts';

it('counts every refusal, writes a line for each, and does not fill the log', () => {
  const lines: Record<string, unknown>[] = [];
  const clock = { now: 0 };
  const log = { warn: (line: Record<string, unknown>) => void lines.push(line) };
  const refusals = new Refusals(log, () => clock.now);
  refusals.count('unauthorized', { connectionId: 3 });
  expect(lines).toEqual([{ reason: 'unauthorized', connectionId: 3 }]);
  for (let count = 0; count < 10_000; count += 1) refusals.count('preauth-overflow');
  expect(lines.length).toBeLessThan(100);
  const before = lines.length;
  refusals.count('no-pong');
  expect(lines.length).toBe(before + 1);
  clock.now += 60_000;
  refusals.count('preauth-overflow');
  const left = lines.at(-1)?.leftOut;
  expect(left).toBe(10_000 - (before - 1));
  expect(refusals.counts).toEqual({ unauthorized: 1, 'preauth-overflow': 10_001, 'no-pong': 1 });
});
