import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FailureError, HubId, NodeName } from '@roost/protocol';
import type { Log } from '@roost/storage';
import { readMemberships, removeMembership, writeMembership, type Membership } from './membership-files.ts';

let root: string;
let directory: string;
let warned: unknown[];
const log = { warn: (facts: unknown) => warned.push(facts) } as unknown as Log;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'roost-hubs-'));
  directory = join(root, 'hubs');
  warned = [];
});
afterEach(() => rmSync(root, { recursive: true }));

function membershipOf(digit: string, more: Partial<Membership> = {}): Membership {
  return {
    hubId: HubId.parse(digit.repeat(16)),
    url: 'https://hub.example.org',
    nodeName: NodeName.parse('far'),
    key: '0'.repeat(64),
    fingerprint: null,
    joinedAt: '2026-01-01T00:00:00.000Z',
    ...more,
  };
}

test('a membership is there again as it was written, and nobody else can read it', () => {
  const [one, other] = [membershipOf('a', { fingerprint: 'f'.repeat(64) }), membershipOf('b')];
  writeMembership(directory, other);
  writeMembership(directory, membershipOf('a'));
  writeMembership(directory, one);
  expect(readMemberships(directory, log)).toEqual([one, other]);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(readdirSync(directory)).toEqual([`${one.hubId}.json`, `${other.hubId}.json`]);
  for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
  removeMembership(directory, one.hubId);
  removeMembership(directory, one.hubId);
  expect(readMemberships(directory, log)).toEqual([other]);
});

test('there is none where there is no directory', () => {
  expect(readMemberships(directory, log)).toEqual([]);
  expect(warned).toEqual([]);
});

test('what is no membership is left alone and said in the log', () => {
  writeMembership(directory, membershipOf('a'));
  const text = JSON.stringify(membershipOf('c'));
  const files: [string, string][] = [
    ['0000000000000001.json', '{'],
    ['0000000000000002.json', JSON.stringify({ ...membershipOf('c'), more: 1 })],
    // The file of another hub: renamed, or copied.
    ['dddddddddddddddd.json', text],
    ['0000000000000003.json', JSON.stringify({ ...membershipOf('c'), url: 'x'.repeat(9_000) })],
  ];
  for (const [name, content] of files) writeFileSync(join(directory, name), content);
  writeFileSync(join(root, 'elsewhere'), text);
  symlinkSync(join(root, 'elsewhere'), join(directory, `${'c'.repeat(16)}.json`));
  writeFileSync(join(directory, `${'a'.repeat(16)}.json.123`), 'unfinished');
  expect(readMemberships(directory, log)).toEqual([membershipOf('a')]);
  expect(warned).toHaveLength(files.length + 1);
  expect(JSON.stringify(warned)).not.toContain(membershipOf('a').key);
});

test('what cannot be written is told, and nothing of it is left', () => {
  writeFileSync(directory, 'a file');
  let code = '';
  try {
    writeMembership(directory, membershipOf('a'));
  } catch (error) {
    code = error instanceof FailureError ? error.failure.code : String(error);
  }
  expect(code).toBe('storage-failed');
  expect(readdirSync(root)).toEqual(['hubs']);
});
