import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Results } from './report.ts';

const PROGRAM = new URL('dist/run.js', import.meta.url).pathname;
let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'roost-bench-test-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('measures every section, writes both files and leaves nothing behind', { timeout: 240_000 }, () => {
  const scratch = mkdtempSync(join(directory, 'tmp-'));
  const out = join(directory, 'out');
  execFileSync(process.execPath, [PROGRAM, '--quick', '--out', out], {
    env: { PATH: process.env.PATH, TMPDIR: scratch, HOME: directory },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const results = JSON.parse(readFileSync(join(out, 'results.json'), 'utf8')) as Results;
  expect(results.sections.map(({ id }) => id).join(' ')).toBe('a b c d e f g h i j k l m n o p');
  expect(results.subjects).toContain('roost');
  for (const { id, measurements } of results.sections) {
    const figures = measurements.flatMap(({ samples }) => samples.roost ?? []);
    expect(figures.length, `section ${id}`).toBeGreaterThan(0);
    expect(figures.every(Number.isFinite), `section ${id}`).toBe(true);
  }
  expect(readFileSync(join(out, 'RESULTS.md'), 'utf8')).toContain('## i. Interrupts');
  expect(readdirSync(scratch)).toEqual([]);
  expect(readdirSync(directory).toSorted()).toEqual(['out', scratch.slice(directory.length + 1)]);
});

it('refuses an unknown section with the usage', () => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, '--only', 'a,z'], { encoding: 'utf8' });
  expect(status).toBe(2);
  expect(stderr).toContain('no section z');
  expect(stderr).toContain('Usage:');
});
