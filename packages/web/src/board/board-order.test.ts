import { expect, test } from 'vitest';
import { viewOf } from '@roost/client/browser';
import { node, session } from '../testing/things.ts';
import { boardGroups, EVERYTHING_LIVE } from './board-order.ts';

const waiting = (name: string, since: string) =>
  session({ name, activity: { state: 'blocked', reason: 'approval', since } });

const view = viewOf({
  nodes: [node({ name: 'mill' })],
  sessions: [
    session({ name: 'old', createdAt: '2026-01-01T08:00:00Z' }),
    session({ name: 'new', createdAt: '2026-01-01T09:00:00Z', activity: { state: 'working' } }),
    waiting('late', '2026-01-01T11:00:00Z'),
    waiting('early', '2026-01-01T10:00:00Z'),
    session({ name: 'ready-to-read', activity: { state: 'done' } }),
    session({ name: 'over', status: 'exited', endedAt: '2026-01-01T07:00:00Z' }),
  ],
  records: [],
  workspaces: [],
});
const shown = (filter: Partial<typeof EVERYTHING_LIVE>): [string, string[]][] =>
  boardGroups(view, { ...EVERYTHING_LIVE, ...filter }).map(({ section, sessions }) => [
    section,
    sessions.map(({ name }) => name),
  ]);

test('those that wait longest come first, then what is done, then the newest that run', () => {
  expect(shown({})).toEqual([
    ['waiting', ['early', 'late']],
    ['done', ['ready-to-read']],
    ['running', ['new', 'old']],
  ]);
});

test('a search finds names, providers, workspaces and nodes in either case', () => {
  expect(shown({ search: 'EARLY' })).toEqual([['waiting', ['early']]]);
  expect(shown({ search: 'mill', show: 'ended' })).toEqual([['ended', ['over']]]);
  expect(shown({ search: 'nowhere' })).toEqual([]);
});

test('filters hold together', () => {
  expect(shown({ provider: 'codex' })).toEqual([]);
  const found = shown({ provider: 'claude', show: 'all', search: 'ver' });
  expect(found).toEqual([['ended', ['over']]]);
});
