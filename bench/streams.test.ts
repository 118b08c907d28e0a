import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { STREAM_COLUMNS, writeColourStream, writePlainStream } from './streams.ts';

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'roost-bench-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('prints plain lines of exactly 80 columns, numbered without a gap', () => {
  const path = join(directory, 'plain');
  writePlainStream(path, 2_500_000);
  const lines = readFileSync(path, 'latin1').trimEnd().split('\n');
  expect(Math.abs(lines.length * (STREAM_COLUMNS + 1) - 2_500_000)).toBeLessThan(200);
  expect(lines.every((line) => line.length === STREAM_COLUMNS)).toBe(true);
  expect(lines.every((line, index) => Number(line.slice(0, 9)) === index + 1)).toBe(true);
});

it('prints the same colour stream each time, as valid UTF-8', () => {
  const [one, other] = [join(directory, 'one'), join(directory, 'other')];
  writeColourStream(one, 300_000, 120, 40);
  writeColourStream(other, 300_000, 120, 40);
  expect(readFileSync(one).equals(readFileSync(other))).toBe(true);
  expect(readFileSync(one, 'utf8')).not.toContain('\ufffd');
});
