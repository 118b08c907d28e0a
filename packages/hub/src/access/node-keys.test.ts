import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FailureError } from '@roost/protocol';
import { makeOperatorToken, observerToken } from '@roost/protocol/node';
import { nodeId, refusalOf } from './access-for-test.ts';
import { nodeKey, NodeKeys } from './node-keys.ts';

let home: string;
let keys: NodeKeys;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'roost-node-keys-'));
  keys = new NodeKeys(home);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const fileOf = (number: number) => join(home, 'nodes', nodeId(number));

it('keeps the key of each node in a file that only its owner reads, and gives it back', () => {
  const [one, other] = [makeOperatorToken(), makeOperatorToken()];
  keys.write(nodeId(1), makeOperatorToken());
  keys.write(nodeId(1), one);
  keys.write(nodeId(2), other);
  expect(readdirSync(join(home, 'nodes')).sort()).toEqual([nodeId(1), nodeId(2)]);
  expect(statSync(join(home, 'nodes')).mode & 0o777).toBe(0o700);
  expect(statSync(fileOf(1)).mode & 0o777).toBe(0o600);
  const again = new NodeKeys(home);
  expect([again.read(nodeId(1)), again.read(nodeId(2)), again.read(nodeId(3))]).toEqual([one, other, null]);
  keys.remove(nodeId(1));
  keys.remove(nodeId(1));
  expect(keys.read(nodeId(1))).toBeNull();
});

it('closes a directory that others can read', () => {
  chmodSync(join(home, 'nodes'), 0o755);
  new NodeKeys(home);
  expect(statSync(join(home, 'nodes')).mode & 0o777).toBe(0o700);
});

it('takes no key from a link, a file that others can read, or one with something else in it, and tells none of it', () => {
  const key = makeOperatorToken();
  writeFileSync(join(home, 'elsewhere'), key, { mode: 0o600 });
  symlinkSync(join(home, 'elsewhere'), fileOf(1));
  writeFileSync(fileOf(2), key);
  chmodSync(fileOf(2), 0o644);
  writeFileSync(fileOf(3), observerToken(key), { mode: 0o600 });
  writeFileSync(fileOf(4), 'nonsense', { mode: 0o600 });
  for (const number of [1, 2, 3, 4]) {
    try {
      keys.read(nodeId(number));
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(FailureError);
      expect((error as FailureError).failure.code).toBe('home-unusable');
      expect(JSON.stringify((error as FailureError).failure)).not.toMatch(/[0-9a-f]{64}/);
    }
  }
});

it('removes at a start what belongs to no enrolled node, and nothing that is not its own', () => {
  keys.write(nodeId(1), makeOperatorToken());
  keys.write(nodeId(2), makeOperatorToken());
  writeFileSync(`${fileOf(1)}.new`, 'half');
  writeFileSync(join(home, 'nodes', 'README'), 'mine');
  keys.keepOnly(new Set([nodeId(1)]));
  expect(readdirSync(join(home, 'nodes')).sort()).toEqual([nodeId(1), 'README']);
});

it('makes a key of 64 hexadecimal digits, and of nothing else', () => {
  const hex = 'ab'.repeat(32);
  expect(nodeKey(hex)).toBe(`roost_operator_${hex}`);
  expect(refusalOf(() => nodeKey(`${hex}0`))).toBe('invalid-request');
});
