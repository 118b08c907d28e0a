import { describe, expect, it } from 'vitest';
import { FailureError, SessionId, SessionName, type SessionStatus } from '@roost/protocol';
import { makeSessionName } from './naming.ts';
import { resolveSelector as resolve } from './selector.ts';
import { isLive } from './session-table.ts';

const resolveSelector = (selector: string, rows: readonly ReturnType<typeof row>[]) =>
  resolve(selector, rows, { isLive, missing: 'unknown-session' });

const row = (id: string, name: string, status: SessionStatus = 'running', createdAt = 0) => ({
  id: SessionId.parse(id.padEnd(16, '0')),
  name: SessionName.parse(name),
  status,
  created_at: createdAt,
});
const refusal = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (error instanceof FailureError) return error.failure;
  }
  throw new Error('it was not refused');
};

describe('resolving a selector', () => {
  it('prefers the full id to a name', () => {
    const byId = row('ab'.repeat(8), 'x');
    expect(resolveSelector('ab'.repeat(8), [row('01', 'ab'.repeat(8)), byId])).toBe(byId);
  });

  it('prefers the live session of a name, then the newest ended one', () => {
    const old = row('01', 'web', 'exited', 1);
    const newer = row('02', 'web', 'lost', 2);
    const live = row('03', 'web', 'running', 0);
    expect(resolveSelector('web', [old, newer, live])).toBe(live);
    expect(resolveSelector('web', [newer, old])).toBe(newer);
  });

  it('prefers a name to a prefix of an id', () => {
    const named = row('01', 'abc');
    expect(resolveSelector('abc', [row('abc', 'other'), named])).toBe(named);
  });

  it('takes a prefix of two digits that is unique, and lists the candidates of one that is not', () => {
    const one = row('ab1', 'one');
    const other = row('ab2', 'other');
    expect(resolveSelector('ab1', [one])).toBe(one);
    expect(refusal(() => resolveSelector('a', [one])).code).toBe('unknown-session');
    expect(refusal(() => resolveSelector('ab', [one, other]))).toMatchObject({
      code: 'ambiguous-session',
      details: { candidates: [`one (${one.id})`, `other (${other.id})`] },
    });
  });
});

describe('making a name', () => {
  it.each([
    ['claude', [], 'claude'],
    ['/usr/bin/python3', [], 'python3'],
    ['claude', ['claude', 'claude-2'], 'claude-3'],
    ['./-strange name!', [], 'strange-name-'],
    ['…', [], 'session'],
    ['x'.repeat(200), [], 'x'.repeat(56)],
  ])('from %s with %j taken: %s', (program, taken, expected) => {
    expect(makeSessionName(program, (name) => taken.includes(name as never))).toBe(expected);
  });
});
