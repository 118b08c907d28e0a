import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FailureError } from '@roost/protocol';
import { readConfig } from './config.ts';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roost-config-'));
  path = join(directory, 'config.json');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('is what the node does when there is no file, or an empty one', () => {
  const byDefault = {
    attention: { command: null },
    connections: { max: 16 },
    listen: null,
    records: { retainMs: 0, keepPerWorkspace: 0 },
    worktrees: {},
    worktreePorts: { first: 20_000, last: 29_999 },
    workspaces: { inspection: { budgetMs: 8_000, entriesMax: 50_000 } },
  };
  expect(readConfig(path)).toEqual(byDefault);
  writeFileSync(path, '{}');
  expect(readConfig(path)).toEqual(byDefault);
});

it('takes loopback addresses, and each setting by itself', () => {
  writeFileSync(
    path,
    '{"connections":{"max":40},"listen":"[::1]:0","records":{"retainMs":5},"worktrees":{"web":"off"},"workspaces":{"inspection":{"budgetMs":11000}}}',
  );
  expect(readConfig(path)).toEqual({
    attention: { command: null },
    connections: { max: 40 },
    listen: { host: '::1', port: 0 },
    records: { retainMs: 5, keepPerWorkspace: 0 },
    worktrees: { web: 'off' },
    worktreePorts: { first: 20_000, last: 29_999 },
    workspaces: { inspection: { budgetMs: 11_000, entriesMax: 50_000 } },
  });
});

it.each([
  ['{', 'not JSON'],
  ['[]', ''],
  ['{"listen":"0.0.0.0:80"}', 'listen'],
  ['{"listen":"example.com:80"}', 'listen'],
  ['{"listen":"127.0.0.1:99999"}', 'listen'],
  ['{"connections":{"max":0}}', 'connections.max'],
  ['{"conections":{}}', 'conections'],
  ['{"worktrees":{"web":"automatic"}}', 'worktrees.web'],
  ['{"workspaces":{"inspection":{"budgetMs":11001}}}', 'workspaces.inspection.budgetMs'],
  ['{"workspaces":{"inspection":{"budgetMs":0}}}', 'workspaces.inspection.budgetMs'],
  ['{"workspaces":{"inspection":{"entriesMax":1000001}}}', 'workspaces.inspection.entriesMax'],
])('is refused, with its place named, when it says %s', (text, named) => {
  writeFileSync(path, text);
  try {
    readConfig(path);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(FailureError);
    const { code, details } = (error as FailureError).failure;
    expect(code).toBe('home-unusable');
    expect(String(details?.reason)).toContain(named);
  }
});
