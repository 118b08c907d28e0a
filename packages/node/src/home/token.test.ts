import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FailureError } from '@roost/protocol';
import { makeOperatorToken, observerToken } from '@roost/protocol/node';
import { nodeToken } from './token.ts';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roost-token-'));
  path = join(directory, 'node.token');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function refusal(): FailureError['failure'] {
  try {
    nodeToken(path);
  } catch (error) {
    if (error instanceof FailureError) return error.failure;
    throw error;
  }
  throw new Error('it was taken');
}

it('is made once, readable by its owner alone, and stays', () => {
  const token = nodeToken(path);
  expect(token).toMatch(/^roost_operator_[0-9a-f]{64}$/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(nodeToken(path)).toBe(token);
  expect(readdirSync(directory)).toEqual(['node.token']);
});

it('is not taken from a link, a directory, a file that others can read, or one without an operator token', () => {
  const elsewhere = join(directory, 'elsewhere');
  writeFileSync(elsewhere, `${makeOperatorToken()}\n`, { mode: 0o600 });
  symlinkSync(elsewhere, path);
  expect(refusal().code).toBe('home-unusable');
  rmSync(path);
  writeFileSync(path, readFileSync(elsewhere), { mode: 0o644 });
  chmodSync(path, 0o644);
  expect(refusal().code).toBe('home-unusable');
  for (const text of ['', 'nonsense', observerToken(makeOperatorToken())]) {
    rmSync(path);
    writeFileSync(path, text, { mode: 0o600 });
    const { code, details } = refusal();
    expect(code).toBe('home-unusable');
    expect(JSON.stringify(details)).not.toMatch(/[0-9a-f]{64}/);
  }
});
