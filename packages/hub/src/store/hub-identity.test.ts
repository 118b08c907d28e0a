import { afterEach, beforeEach, expect, it } from 'vitest';
import { countedBytes, TestAccess } from '../access/access-for-test.ts';
import { hubIdentity } from './hub-identity.ts';

let test: TestAccess;
beforeEach(() => {
  test = new TestAccess();
});
afterEach(() => test.remove());

it('is made once and stays', () => {
  const random = countedBytes();
  const identity = () => hubIdentity(test.store, { now: () => test.now, random });
  const made = identity();
  expect(made).toMatch(/^[0-9a-f]{16}$/);
  expect(identity()).toBe(made);
  test.reopen();
  expect(identity()).toBe(made);
});
