import { afterEach, beforeEach, expect, it } from 'vitest';
import type { HubScope } from '@roost/protocol';
import type { AccessChange } from './access-changes.ts';
import { nodeId, refusalOf, TestAccess, user } from './access-for-test.ts';

let test: TestAccess;
beforeEach(() => {
  test = new TestAccess();
});
afterEach(() => test.remove());

const SOME: HubScope = [{ nodeId: nodeId(1), workspaceIds: null }];

it('keeps users by name, each name once', () => {
  test.addUser('bob', 'observer', SOME);
  test.addUser('alice', 'admin');
  for (const taken of ['bob', 'local', 'nobody'])
    expect(refusalOf(() => test.addUser(taken, 'observer'))).toBe('name-taken');
  test.reopen();
  expect(test.access.accounts.list()).toEqual([
    { name: 'alice', role: 'admin', scope: null, disabled: false, createdAt: '2030-01-01T12:00:30.000Z' },
    { name: 'bob', role: 'observer', scope: SOME, disabled: false, createdAt: '2030-01-01T12:00:30.000Z' },
  ]);
  expect(test.access.accounts.find(user('carol'))).toBeNull();
});

it('changes what is named and leaves the rest', () => {
  const name = test.addUser('bob', 'observer', SOME);
  const { accounts } = test.access;
  expect(accounts.change({ name, role: 'operator' })).toMatchObject({ role: 'operator', scope: SOME });
  expect(accounts.change({ name, scope: null })).toMatchObject({ role: 'operator', scope: null });
  expect(accounts.change({ name, disabled: true })).toMatchObject({ role: 'operator', disabled: true });
  expect(accounts.find(name)).toMatchObject({ role: 'operator', scope: null, disabled: true });
  expect(refusalOf(() => accounts.change({ name: user('carol') }))).toBe('unknown-user');
});

it('does not lose the last one who can administer the hub', () => {
  const { accounts } = test.access;
  const alice = test.addUser('alice', 'admin');
  const bob = test.addUser('bob', 'admin');
  accounts.change({ name: bob, disabled: true });
  expect(refusalOf(() => accounts.remove(alice))).toBe('last-admin');
  expect(refusalOf(() => accounts.change({ name: alice, role: 'operator' }))).toBe('last-admin');
  expect(refusalOf(() => accounts.change({ name: alice, disabled: true }))).toBe('last-admin');
  expect(accounts.find(alice)).toMatchObject({ role: 'admin', disabled: false });
  accounts.change({ name: alice, role: 'admin' });
  accounts.change({ name: bob, disabled: false });
  accounts.remove(alice);
  expect(refusalOf(() => accounts.remove(alice))).toBe('unknown-user');
  expect(refusalOf(() => accounts.remove(bob))).toBe('last-admin');
});

it('makes nobody an admin of some nodes, for they could lift the bound', () => {
  const { accounts } = test.access;
  const alice = test.addUser('alice', 'admin');
  test.addUser('bob', 'admin');
  expect(refusalOf(() => test.addUser('carol', 'admin', SOME))).toBe('invalid-request');
  expect(refusalOf(() => accounts.change({ name: alice, scope: SOME }))).toBe('invalid-request');
  expect(accounts.change({ name: alice, role: 'operator', scope: SOME })).toMatchObject({ scope: SOME });
  expect(refusalOf(() => accounts.change({ name: alice, role: 'admin' }))).toBe('invalid-request');
});

it('tells of every change once it is stored, and of none that was refused', () => {
  const told: AccessChange[] = [];
  const stop = test.access.onRevoked((change) => told.push(change));
  const { accounts } = test.access;
  const alice = test.addUser('alice', 'admin');
  const bob = test.addUser('bob', 'operator');
  refusalOf(() => accounts.remove(alice));
  accounts.change({ name: bob, role: 'observer' });
  accounts.remove(bob);
  expect(told).toEqual([
    { kind: 'user', user: bob },
    { kind: 'user', user: bob },
  ]);
  stop();
  accounts.change({ name: alice, disabled: false });
  expect(told).toHaveLength(2);
});

it('takes the credentials of a removed user along, so that a later one of that name gets none of them', () => {
  test.addUser('alice', 'admin');
  const bob = test.addUser('bob', 'operator');
  const { secret } = test.tokenOf(bob);
  const { cookie } = test.browserOf(bob);
  test.access.accounts.remove(bob);
  test.addUser('bob', 'operator');
  expect([test.byToken(secret), test.byCookie(cookie)]).toEqual([null, null]);
});
