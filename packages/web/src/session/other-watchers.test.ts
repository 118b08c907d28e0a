import { expect, test } from 'vitest';
import type { UserName, Watcher } from '@roost/protocol';
import { askerName, isDriverless, otherWatchers, type WatchedTerminal } from './other-watchers.ts';

const ada = 'ada' as UserName;
const bob = 'bob' as UserName;
let clock = 0;
const watcher = (user: UserName | null, drives = false): Watcher => ({
  user,
  drives,
  mode: drives ? 'drive' : 'watch',
  since: new Date(clock++).toISOString(),
});
const seen = (watchers: Watcher[], more: Partial<WatchedTerminal> = {}): WatchedTerminal => ({
  watchers,
  attachedClients: watchers.length,
  ownRole: 'watcher',
  ownName: ada,
  ...more,
});

test('whoever drives comes first, and oneself is not among the others', () => {
  const others = otherWatchers(seen([watcher(ada), watcher(null), watcher(bob, true)]));
  expect(others).toEqual([
    { name: 'bob', drives: true },
    { name: 'owner', drives: false },
  ]);
});

test('another page of the same person is told from this one by what it does', () => {
  const watchers = [watcher(ada, true), watcher(ada)];
  expect(otherWatchers(seen(watchers))).toEqual([{ name: 'you elsewhere', drives: true }]);
  expect(otherWatchers(seen(watchers, { ownRole: 'driver' }))).toEqual([
    { name: 'you elsewhere', drives: false },
  ]);
  expect(otherWatchers(seen(watchers, { ownRole: null }))).toHaveLength(2);
});

test('whom the hub does not see is counted; that they drive is said neither way unless it is known', () => {
  expect(otherWatchers(seen([watcher(ada)], { attachedClients: 2 }))).toEqual([
    { name: 'somebody at its machine', drives: null },
  ]);
  const driving = seen([watcher(ada, true)], { attachedClients: 3, ownRole: 'driver' });
  expect(otherWatchers(driving)).toEqual([{ name: '2 at its machine', drives: false }]);
});

test('nobody drives only where everybody is seen and none of them does', () => {
  expect(isDriverless(seen([watcher(ada), watcher(bob)]))).toBe(true);
  expect(isDriverless(seen([watcher(ada), watcher(bob, true)]))).toBe(false);
  expect(isDriverless(seen([watcher(ada)], { attachedClients: 2 }))).toBe(false);
  expect(isDriverless(seen([watcher(ada)], { attachedClients: null }))).toBe(false);
});

test('who asks to drive has the name that the hub told the node', () => {
  const among = (ownName: string | null, ...users: (string | null)[]) => ({
    ownName: ownName as UserName | null,
    watchers: users.map((user) => watcher(user as UserName | null)),
  });
  expect(askerName('web:ada', among('bob', 'bob', 'ada'))).toBe('ada');
  expect(askerName('web:bob', among('bob', 'bob'))).toBe('you elsewhere');
  expect(askerName('web:local', among('bob', 'bob', null))).toBe('owner');
  expect(askerName('web:local', among(null, null))).toBe('you elsewhere');
  expect(askerName('web:local', among('bob', 'bob', 'local'))).toBe('local');
  for (const clientName of ['roost', null])
    expect(askerName(clientName, null)).toBe('somebody at its machine');
});
