import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { ShownOutput } from './shown-output.ts';
import { eventually } from '../testing/eventually.ts';

/** An output that takes nothing until told to. */
function gate() {
  const waiting: (() => void)[] = [];
  const output = new Writable({
    write: (_chunk, _encoding, callback) => {
      waiting.push(callback);
    },
  });
  return { output, takeOne: () => waiting.shift()?.() };
}

test('only what the output took is acknowledged: at once from 32 KiB on, soon below', async () => {
  const { output, takeOne } = gate();
  const acknowledged: number[] = [];
  const shown = new ShownOutput(output, (bytes) => acknowledged.push(bytes));
  shown.write(Buffer.alloc(40_000), 40_000);
  shown.write(Buffer.alloc(10), 10);
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(acknowledged).toEqual([]);
  takeOne();
  await eventually(() => acknowledged).toEqual([40_000]);
  takeOne();
  await eventually(() => acknowledged).toEqual([40_000, 10]);
});

test('what is written may be shorter than what is acknowledged for it', async () => {
  const { output, takeOne } = gate();
  const acknowledged: number[] = [];
  new ShownOutput(output, (bytes) => acknowledged.push(bytes)).write('a', 50_000);
  takeOne();
  await eventually(() => acknowledged).toEqual([50_000]);
});

test('after stop, nothing is acknowledged', async () => {
  const { output, takeOne } = gate();
  const acknowledged: number[] = [];
  const shown = new ShownOutput(output, (bytes) => acknowledged.push(bytes));
  shown.write('abc', 3);
  takeOne();
  await new Promise(setImmediate);
  shown.stop();
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(acknowledged).toEqual([]);
});
