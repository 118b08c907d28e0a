import { LOGIN_LINK_MS } from '@roost/protocol';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AccessChange } from './access-changes.ts';
import { refusalOf, TestAccess, user } from './access-for-test.ts';
import { LOCAL } from './authenticate.ts';
import {
  BROWSER_IDLE_MS,
  BROWSER_LIFE_MS,
  BROWSERS_OF_USER_MAX,
  LINKS_OF_USER_MAX,
  loginUrl,
} from './logins.ts';

const MINUTE = 60_000;

let test: TestAccess;
beforeEach(() => {
  test = new TestAccess();
  test.addUser('alice', 'admin');
  test.addUser('bob', 'operator');
});
afterEach(() => test.remove());

const bob = user('bob');
const link = () => test.access.logins.createLink(bob, LOCAL).code;
const redeem = (code: string) => test.access.logins.redeem(code);

describe('a login link', () => {
  it('has its code in the fragment, which browsers send to nobody', () => {
    const code = link();
    expect(code).toMatch(/^[0-9a-f]{64}$/);
    for (const hub of ['https://hub.example', 'https://hub.example/']) {
      const url = new URL(loginUrl(hub, code));
      expect([url.href, url.hash]).toEqual([`https://hub.example/#/login/${code}`, `#/login/${code}`]);
      expect(url.pathname + url.search).not.toContain(code);
    }
  });

  it('logs in once', () => {
    const code = link();
    test.reopen();
    const { cookie } = redeem(code);
    expect(test.byCookie(cookie)).toMatchObject({ user: 'bob', role: 'operator', scope: null });
    expect(refusalOf(() => redeem(code))).toBe('unauthenticated');
    expect(refusalOf(() => redeem('nonsense'))).toBe('unauthenticated');
  });

  it('is good for a few minutes', () => {
    const { code, expiresAt } = test.access.logins.createLink(bob, LOCAL);
    expect(expiresAt).toBe(test.now + LOGIN_LINK_MS);
    test.now += LOGIN_LINK_MS - 1;
    expect(refusalOf(() => redeem(code))).toBeNull();
    const late = link();
    test.now += LOGIN_LINK_MS;
    expect(refusalOf(() => redeem(late))).toBe('unauthenticated');
  });

  it('is of a user who may log in, when it is made and when it is used', () => {
    const { accounts, logins } = test.access;
    const code = link();
    accounts.change({ name: bob, disabled: true });
    expect(refusalOf(() => redeem(code))).toBe('unauthenticated');
    expect(refusalOf(() => link())).toBe('unknown-user');
    expect(refusalOf(() => logins.createLink(user('carol'), LOCAL))).toBe('unknown-user');
    accounts.change({ name: bob, disabled: false });
    expect(refusalOf(() => redeem(code))).toBe('unauthenticated');
  });

  it('makes room for newer ones', () => {
    const codes = Array.from({ length: LINKS_OF_USER_MAX + 1 }, link);
    expect(refusalOf(() => redeem(codes[0]!))).toBe('unauthenticated');
    expect(refusalOf(() => redeem(codes[1]!))).toBeNull();
  });
});

describe('a browser session', () => {
  it('ends when it is not used for hours', () => {
    const { cookie, session } = redeem(link());
    test.reopen();
    // To the minute, in favour of an early end.
    expect(session.expiresAt).toBe(test.now - 30_000 + BROWSER_IDLE_MS);
    test.now += BROWSER_IDLE_MS - MINUTE;
    expect(test.byCookie(cookie)).toMatchObject({ expiresAt: test.now - 30_000 + BROWSER_IDLE_MS });
    test.now += BROWSER_IDLE_MS;
    expect(test.byCookie(cookie)).toBeNull();
  });

  it('ends after days, however much it is used', () => {
    const { cookie } = redeem(link());
    const end = test.now + BROWSER_LIFE_MS;
    for (; test.now < end; test.now += BROWSER_IDLE_MS / 2) expect(test.byCookie(cookie)).not.toBeNull();
    expect(test.byCookie(cookie)).toBeNull();
  });

  it('ends with a logout, and tells it', () => {
    const { cookie, session } = redeem(link());
    const other = redeem(link());
    const told: AccessChange[] = [];
    test.access.onRevoked((change) => told.push(change));
    test.access.logins.end(session.id);
    expect(test.byCookie(cookie)).toBeNull();
    expect(test.byCookie(other.cookie)).not.toBeNull();
    expect(told).toEqual([{ kind: 'cookie', id: session.id }]);
  });

  it('ends when its user may not log in any more, for good', () => {
    const { cookie } = redeem(link());
    test.access.accounts.change({ name: bob, disabled: true });
    test.access.accounts.change({ name: bob, disabled: false });
    expect(test.byCookie(cookie)).toBeNull();
  });

  it('ends with the token that it was made with', () => {
    const { principal } = test.tokenOf(bob);
    const { cookie, principal: inBrowser } = test.browserOf(bob, principal);
    const waiting = test.access.logins.createLink(bob, principal).code;
    const told: AccessChange[] = [];
    test.access.onRevoked((change) => told.push(change));
    const [token] = test.access.tokens.list(bob);
    test.access.tokens.revoke(token!.id, bob);
    expect(test.byCookie(cookie)).toBeNull();
    expect(refusalOf(() => redeem(waiting))).toBe('unauthenticated');
    expect(told).toEqual([{ kind: 'token', id: token!.id }, { ...inBrowser.credential }]);
  });

  it('does not outlive the token that it was made with, and does not count as its use', () => {
    const { secret } = test.access.tokens.create(
      { user: bob, label: 'short', scope: null, expiresInDays: 1 },
      LOCAL,
    );
    const made = test.byToken(secret)!;
    test.now += 86_400_000 - 2 * MINUTE;
    const { cookie, principal } = test.browserOf(bob, made);
    expect(principal.expiresAt).toBe(made.expiresAt);
    expect(test.access.tokens.list(bob)[0]?.lastUsedAt).toBe('2030-01-01T12:00:00.000Z');
    test.now += 2 * MINUTE;
    expect(test.byCookie(cookie)).toBeNull();
  });

  it('makes room for newer ones, the oldest first', () => {
    const cookies = Array.from({ length: BROWSERS_OF_USER_MAX + 1 }, () => redeem(link()).cookie);
    expect(test.byCookie(cookies[0]!)).toBeNull();
    expect(test.byCookie(cookies[1]!)).not.toBeNull();
  });

  it('is stored as its hash alone, as the link is', () => {
    const waiting = link();
    const { cookie } = redeem(link());
    test.reopen();
    const bytes = readFileSync(test.path);
    expect(bytes.includes('bob')).toBe(true);
    expect([bytes.includes(waiting), bytes.includes(cookie)]).toEqual([false, false]);
  });
});
