import { afterEach, beforeEach, expect, it } from 'vitest';
import { concerns, type AccessChange } from './access-changes.ts';
import { nodeId, refusalOf, TestAccess, user } from './access-for-test.ts';
import { LOCAL } from './authenticate.ts';
import { userFor } from './credentials.ts';

let test: TestAccess;
beforeEach(() => {
  test = new TestAccess();
  test.addUser('alice', 'admin');
  test.addUser('bob', 'operator');
});
afterEach(() => test.remove());

const bob = user('bob');

it('reads a bearer token in the ways that clients write it, and nothing else', () => {
  const { secret } = test.tokenOf(bob);
  const { authenticator } = test.access;
  const who = (authorization: string) => authenticator.authenticate({ authorization })?.user ?? null;
  expect([`Bearer ${secret}`, `bearer  ${secret}`, `BEARER ${secret} `].map(who)).toEqual([
    'bob',
    'bob',
    'bob',
  ]);
  // With the fingerprint of a hub whose certificate vouches for itself.
  expect(who(`Bearer ${secret}.${'ab'.repeat(32)}`)).toBe('bob');
  for (const wrong of [
    '',
    secret,
    `Basic ${secret}`,
    'Bearer',
    'Bearer ',
    `Bearer ${secret} ${secret}`,
    `Bearer ${secret}.`,
    `Bearer ${secret}.${secret}`,
    `Bearer${secret}`,
  ])
    expect(who(wrong)).toBeNull();
  expect(authenticator.authenticate({})).toBeNull();
});

it('lets a header decide alone: a cookie does not make up for a bad one', () => {
  const { cookie } = test.browserOf(bob);
  const { secret } = test.tokenOf(user('alice'));
  const { authenticator } = test.access;
  expect(authenticator.authenticate({ authorization: 'Bearer nonsense', cookie })).toBeNull();
  expect(authenticator.authenticate({ authorization: `Bearer ${secret}`, cookie })?.user).toBe('alice');
  expect(authenticator.authenticate({ authorization: `Bearer ${cookie}` })).toBeNull();
  expect(authenticator.authenticate({ cookie: secret })).toBeNull();
});

it('says of something that stays open who it is now, and when that is over', () => {
  const { authenticator, accounts, logins } = test.access;
  const { principal: inBrowser } = test.browserOf(bob);
  const { principal: withToken } = test.tokenOf(bob);
  expect(authenticator.renew(LOCAL)).toBe(LOCAL);
  accounts.change({ name: bob, role: 'observer', scope: [{ nodeId: nodeId(1), workspaceIds: null }] });
  for (const before of [inBrowser, withToken])
    expect(authenticator.renew(before)).toEqual({
      ...before,
      role: 'observer',
      scope: [{ nodeId: nodeId(1), workspaceIds: null }],
    });
  // To ask is to use it.
  test.now += 3_600_000;
  expect(authenticator.renew(inBrowser)?.expiresAt).toBe((inBrowser.expiresAt ?? 0) + 3_600_000);
  if (inBrowser.credential.kind === 'cookie') logins.end(inBrowser.credential.id);
  accounts.remove(bob);
  expect([authenticator.renew(inBrowser), authenticator.renew(withToken)]).toEqual([null, null]);
});

it('tells whose access a change is about', () => {
  const { principal: first } = test.tokenOf(bob);
  const { principal: second } = test.tokenOf(bob);
  const { principal: browser } = test.browserOf(bob);
  const { principal: other } = test.browserOf(user('alice'));
  const all = [first, second, browser, other, LOCAL];
  const told: AccessChange[] = [];
  test.access.onRevoked((change) => told.push(change));
  if (first.credential.kind === 'token') test.access.tokens.revoke(first.credential.id, null);
  if (browser.credential.kind === 'cookie') test.access.logins.end(browser.credential.id);
  test.access.accounts.remove(bob);
  expect(told.map((change) => all.filter((principal) => concerns(change, principal)))).toEqual([
    [first],
    [browser],
    [first, second, browser],
  ]);
});

it('takes a request about oneself to be for who asks, and one about another for an admin only', () => {
  const { principal } = test.tokenOf(bob);
  const { principal: admin } = test.tokenOf(user('alice'));
  expect([
    userFor(principal, undefined),
    userFor(principal, bob),
    userFor(admin, bob),
    userFor(LOCAL, bob),
  ]).toEqual([bob, bob, bob, bob]);
  expect(refusalOf(() => userFor(principal, user('alice')))).toBe('forbidden');
  expect(refusalOf(() => userFor(LOCAL, undefined))).toBe('invalid-request');
});
