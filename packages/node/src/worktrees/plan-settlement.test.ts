import { expect, it } from 'vitest';
import { planSettlement, type Evidence, type Settlement } from './plan-settlement.ts';
import type { WorktreeEntry } from './worktree-list.ts';

const entry: WorktreeEntry = {
  path: '/w',
  head: 'a'.repeat(40),
  branch: 'b',
  isMain: false,
  isBare: false,
  locked: null,
  prunable: null,
};
const nothing: Evidence = { gitRuns: false, entry: null, presence: 'absent', isProven: false };
const whole: Evidence = { gitRuns: false, entry, presence: 'directory', isProven: true };

it.each<[string, 'create' | 'remove', Evidence, Settlement]>([
  ['nothing is there of a creation', 'create', nothing, { kind: 'drop' }],
  ['a creation is whole', 'create', whole, { kind: 'register' }],
  ['git still makes it', 'create', { ...nothing, gitRuns: true }, { kind: 'keep', why: 'running' }],
  [
    'git was ended while it made it',
    'create',
    { ...whole, entry: { ...entry, locked: 'initializing' } },
    { kind: 'keep', why: 'incomplete' },
  ],
  [
    'somebody locked what was made',
    'create',
    { ...whole, entry: { ...entry, locked: 'mine' } },
    { kind: 'register' },
  ],
  [
    'another branch is checked out there',
    'create',
    { ...whole, entry: { ...entry, branch: 'other' } },
    { kind: 'keep', why: 'foreign' },
  ],
  ['it is not proven', 'create', { ...whole, isProven: false }, { kind: 'keep', why: 'foreign' }],
  [
    'something else stands there',
    'create',
    { ...nothing, presence: 'directory' },
    { kind: 'keep', why: 'foreign' },
  ],
  ['the directory is gone again', 'create', { ...nothing, entry }, { kind: 'forget-entry' }],
  [
    'a directory was never made for the entry',
    'create',
    { ...nothing, entry: { ...entry, locked: 'initializing' } },
    { kind: 'forget-entry' },
  ],
  ['a removal is complete', 'remove', nothing, { kind: 'unregister' }],
  ['a removal never began, or broke off', 'remove', whole, { kind: 'restore' }],
  ['a removal lost the pointer first', 'remove', { ...whole, isProven: false }, { kind: 'restore' }],
  ['a removal left the entry', 'remove', { ...nothing, entry }, { kind: 'forget-entry' }],
  [
    'what is gone is locked',
    'remove',
    { ...nothing, entry: { ...entry, locked: '' } },
    { kind: 'keep', why: 'incomplete' },
  ],
  [
    'a link stands where it was',
    'remove',
    { ...whole, presence: 'other', isProven: false },
    { kind: 'keep', why: 'foreign' },
  ],
  ['git still removes it', 'remove', { ...whole, gitRuns: true }, { kind: 'keep', why: 'running' }],
])('when %s (%s)', (_, act, evidence, expected) => {
  expect(planSettlement({ act, branch: 'b' }, evidence)).toEqual(expected);
});
