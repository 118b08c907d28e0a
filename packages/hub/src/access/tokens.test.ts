import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HubScope } from '@roost/protocol';
import type { AccessChange } from './access-changes.ts';
import { nodeId, refusalOf, TestAccess, user, workspace } from './access-for-test.ts';
import { LOCAL } from './authenticate.ts';
import type { Principal } from './principal.ts';
import { TOKENS_OF_USER_MAX, type NewToken } from './tokens.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const ONE: HubScope = [{ nodeId: nodeId(1), workspaceIds: null }];
const TWO: HubScope = [{ nodeId: nodeId(2), workspaceIds: null }];

let test: TestAccess;
beforeEach(() => {
  test = new TestAccess();
});
afterEach(() => test.remove());

const create = (wanted: Partial<NewToken>, maker: Principal = LOCAL) =>
  test.access.tokens.create(
    { user: user('bob'), label: 'laptop', scope: null, expiresInDays: 1, ...wanted },
    maker,
  );

describe('a personal token', () => {
  it('proves its user until it ends, also to a hub that started anew', () => {
    const bob = test.addUser('bob', 'operator');
    const { token, secret } = create({});
    expect(secret).toMatch(/^roost_hub_[0-9a-f]{64}$/);
    expect(token).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      user: bob,
      label: 'laptop',
      role: 'operator',
      scope: null,
      createdAt: '2030-01-01T12:00:30.000Z',
      expiresAt: '2030-01-02T12:00:30.000Z',
      lastUsedAt: null,
    });
    test.reopen();
    expect(test.byToken(secret)).toEqual({
      kind: 'user',
      user: bob,
      role: 'operator',
      scope: null,
      credential: { kind: 'token', id: token.id },
      expiresAt: Date.parse('2030-01-02T12:00:30.000Z'),
    });
    test.now += DAY - 1;
    expect(test.byToken(secret)).not.toBeNull();
    test.now += 1;
    expect(test.byToken(secret)).toBeNull();
    expect(test.access.tokens.list(null)).toEqual([]);
  });

  it('is stored as its hash alone', () => {
    test.addUser('bob', 'operator');
    const { secret } = create({});
    test.byToken(secret);
    test.store.close();
    const bytes = readFileSync(test.path);
    test.store.close = () => undefined;
    expect(bytes.includes('laptop')).toBe(true);
    expect(bytes.includes(secret.slice('roost_hub_'.length))).toBe(false);
  });

  it('is nothing else than the whole secret', () => {
    test.addUser('bob', 'operator');
    const { token, secret } = create({});
    for (const other of ['', token.id, secret.slice(0, -1), `${secret}0`, secret.toUpperCase(), 'roost_hub_'])
      expect(test.byToken(other)).toBeNull();
  });

  it('notes the minute of its last use, in one write a minute', () => {
    test.addUser('bob', 'operator');
    const { secret } = create({});
    const lastUse = () => test.access.tokens.list(null)[0]?.lastUsedAt;
    const changes = () => test.store.sql.get('SELECT total_changes() AS n');
    test.byToken(secret);
    expect(lastUse()).toBe('2030-01-01T12:00:00.000Z');
    const before = changes();
    for (let use = 0; use < 100; use += 1) test.byToken(secret);
    expect(changes()).toEqual(before);
    test.now += MINUTE;
    test.byToken(secret);
    expect(lastUse()).toBe('2030-01-01T12:01:00.000Z');
  });

  it('is good when the time of its use cannot be stored', () => {
    test.addUser('bob', 'operator');
    const { secret } = create({});
    test.store.sql.exec('PRAGMA query_only = 1');
    expect(test.byToken(secret)).toMatchObject({ user: 'bob' });
  });

  it('ends when it is revoked, and tells it', () => {
    const bob = test.addUser('bob', 'operator');
    test.addUser('eve', 'operator');
    const { token, secret } = create({});
    const told: AccessChange[] = [];
    test.access.onRevoked((change) => told.push(change));
    const { tokens } = test.access;
    expect(refusalOf(() => tokens.revoke(token.id, user('eve')))).toBe('unknown-token');
    expect(test.byToken(secret)).not.toBeNull();
    tokens.revoke(token.id, bob);
    expect(test.byToken(secret)).toBeNull();
    expect(told).toEqual([{ kind: 'token', id: token.id }]);
    expect(refusalOf(() => tokens.revoke(token.id, null))).toBe('unknown-token');
  });

  it('is listed for its owner, and for who asks about all', () => {
    test.addUser('bob', 'operator');
    test.addUser('eve', 'operator');
    create({ label: 'one' });
    test.now += 1;
    create({ label: 'two', user: user('eve') });
    const labels = (owner: string | null) =>
      test.access.tokens.list(owner === null ? null : user(owner)).map(({ label }) => label);
    expect([labels('bob'), labels('eve'), labels(null)]).toEqual([['one'], ['two'], ['two', 'one']]);
  });

  it('is not made for nobody, nor more often than one may have', () => {
    expect(refusalOf(() => create({}))).toBe('unknown-user');
    test.addUser('bob', 'operator');
    for (let made = 0; made < TOKENS_OF_USER_MAX; made += 1) create({});
    expect(refusalOf(() => create({}))).toBe('invalid-request');
    test.now += DAY;
    expect(refusalOf(() => create({}))).toBeNull();
  });
});

describe('what a token may do', () => {
  it('is what its user may do at the time of its use', () => {
    const bob = test.addUser('bob', 'operator');
    test.addUser('alice', 'admin');
    const { secret } = create({});
    const { accounts } = test.access;
    accounts.change({ name: bob, role: 'observer', scope: ONE });
    expect(test.byToken(secret)).toMatchObject({ role: 'observer', scope: ONE });
    expect(test.access.tokens.list(bob)).toMatchObject([{ role: 'observer', scope: ONE }]);
    accounts.change({ name: bob, role: 'admin', scope: null });
    expect(test.byToken(secret)).toMatchObject({ role: 'operator', scope: null });
    accounts.change({ name: bob, disabled: true });
    expect(test.byToken(secret)).toBeNull();
    accounts.change({ name: bob, disabled: false });
    expect(test.byToken(secret)).toMatchObject({ role: 'operator', scope: null });
  });

  it('is bounded by its own scope and role as well', () => {
    const bob = test.addUser('bob', 'operator', [
      { nodeId: nodeId(1), workspaceIds: [workspace('a'), workspace('b')] },
      { nodeId: nodeId(2), workspaceIds: null },
    ]);
    const narrow: HubScope = [{ nodeId: nodeId(1), workspaceIds: [workspace('a')] }];
    const { secret } = create({ role: 'observer', scope: narrow });
    expect(test.byToken(secret)).toMatchObject({ role: 'observer', scope: narrow });
    test.access.accounts.change({ name: bob, scope: TWO });
    expect(test.byToken(secret)).toMatchObject({ role: 'observer', scope: [] });
  });

  it('is asked for within what its user may do', () => {
    test.addUser('bob', 'operator', ONE);
    expect(refusalOf(() => create({ role: 'admin' }))).toBe('forbidden');
    expect(refusalOf(() => create({ scope: TWO }))).toBe('out-of-scope');
    expect(refusalOf(() => create({ scope: ONE, role: 'operator' }))).toBeNull();
  });

  it('is not to administer some nodes: that is refused, or becomes an operator', () => {
    test.addUser('alice', 'admin');
    expect(refusalOf(() => create({ user: user('alice'), role: 'admin', scope: ONE }))).toBe(
      'invalid-request',
    );
    const { token, secret } = create({ user: user('alice'), scope: ONE });
    expect(token.role).toBe('operator');
    expect(test.byToken(secret)).toMatchObject({ role: 'operator', scope: ONE });
  });
});

describe('a credential that is used to make another for oneself', () => {
  it('gives it no more than it has', () => {
    const alice = test.addUser('alice', 'admin');
    const { principal: weak } = test.tokenOf(alice, { role: 'observer', scope: ONE });
    expect(refusalOf(() => create({ user: alice, role: 'operator' }, weak))).toBe('forbidden');
    expect(refusalOf(() => create({ user: alice, scope: TWO }, weak))).toBe('out-of-scope');
    const { secret } = create({ user: alice }, weak);
    expect(test.byToken(secret)).toMatchObject({ role: 'observer', scope: ONE });
    const { principal: inBrowser } = test.browserOf(alice, weak);
    expect(inBrowser).toMatchObject({ role: 'observer', scope: ONE });
    expect(create({ user: alice }, inBrowser).token).toMatchObject({ role: 'observer', scope: ONE });
  });

  it('gives all of its user when it has that', () => {
    const bob = test.addUser('bob', 'operator', ONE);
    const { principal } = test.browserOf(bob);
    const { secret } = create({ user: bob }, principal);
    test.access.accounts.change({ name: bob, scope: TWO });
    expect(test.byToken(secret)).toMatchObject({ role: 'operator', scope: TWO });
  });

  it('makes none for another user, unless it is an admin', () => {
    const alice = test.addUser('alice', 'admin');
    const bob = test.addUser('bob', 'operator');
    expect(refusalOf(() => create({ user: alice }, test.tokenOf(bob).principal))).toBe('forbidden');
    const weak = test.tokenOf(alice, { role: 'operator' }).principal;
    expect(refusalOf(() => create({ user: bob }, weak))).toBe('forbidden');
    expect(create({ user: bob }, test.tokenOf(alice).principal).token.role).toBe('operator');
  });

  it('makes none when it has ended meanwhile', () => {
    const bob = test.addUser('bob', 'operator');
    const { principal } = test.tokenOf(bob);
    test.access.tokens.revoke(test.access.tokens.list(bob)[0]!.id, null);
    expect(refusalOf(() => create({ user: bob }, principal))).toBe('unauthenticated');
  });
});
