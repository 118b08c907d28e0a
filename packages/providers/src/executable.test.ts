import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findExecutable } from './executable.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roost-executable-'));
  for (const name of ['one', 'two']) mkdirSync(join(directory, name));
});
afterEach(() => rmSync(directory, { recursive: true }));

function program(path: string, mode = 0o755): string {
  const file = join(directory, path);
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, mode);
  return file;
}
const search = (name: string, path = `${directory}/one:${directory}/two`) =>
  findExecutable(name, path, directory);

test('takes the first of PATH that can be executed', () => {
  program('one/tool', 0o644);
  mkdirSync(join(directory, 'one/other'));
  const tool = program('two/tool');
  const other = program('two/other');
  expect(search('tool')).toBe(tool);
  expect(search('other')).toBe(other);
  expect(search('tool', `${directory}/missing:${directory}/two`)).toBe(tool);
  const first = program('one/third');
  program('two/third');
  expect(search('third')).toBe(first);
});

test('follows a link to a program and not one to nowhere', () => {
  const tool = program('two/tool');
  symlinkSync(tool, join(directory, 'one/link'));
  symlinkSync(join(directory, 'gone'), join(directory, 'one/dangling'));
  expect(search('link')).toBe(join(directory, 'one/link'));
  expect(search('dangling')).toBeNull();
});

test('a name with a slash starts at the working directory and is not searched', () => {
  const tool = program('one/tool');
  expect(search('./one/tool', '')).toBe(tool);
  expect(search('one/tool', '')).toBe(tool);
  expect(search(tool, '')).toBe(tool);
  expect(search('./tool')).toBeNull();
});

test('empty and relative entries of PATH mean the working directory of the child', () => {
  const tool = program('tool');
  const one = program('one/inner');
  expect(search('tool', '/nonexistent:')).toBe(tool);
  expect(search('inner', 'one')).toBe(one);
});

test('what is no program is not found', () => {
  program('one/tool', 0o600);
  for (const name of ['tool', '', 'missing', `${directory}/one`, './one', 'a\0b', '..'])
    expect(search(name), JSON.stringify(name)).toBeNull();
  expect(findExecutable('sh', undefined, directory)).toBeNull();
});
