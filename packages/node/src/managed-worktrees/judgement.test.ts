import { describe, expect, it } from 'vitest';
import { choicesFor, judge, planStart, type LeaseFacts, type Sighting } from './judgement.ts';

const listed = {
  kind: 'listed',
  branch: 'own',
  head: 'a'.repeat(40),
  locked: false,
  prunable: false,
} as const;
const whole: Sighting = {
  directory: 'present',
  authority: 'held',
  repository: 'present',
  git: listed,
  isMain: false,
};
const seen = (more: Partial<Sighting>): Sighting => ({ ...whole, ...more });
const facts = (more: Partial<LeaseFacts> = {}): LeaseFacts => ({
  state: 'ready',
  failure: null,
  cleaning: false,
  held: false,
  ...more,
});

describe('evidence', () => {
  it('only its own path and branch make a worktree the lease’s', () => {
    expect(judge('own', whole)).toBe('owned');
    expect(judge('other', whole)).toBe('not-ours');
    expect(judge('own', seen({ isMain: true }))).toBe('not-ours');
    expect(judge('own', seen({ authority: 'lost' }))).toBe('not-ours');
    expect(judge('own', seen({ directory: 'not-a-directory' }))).toBe('not-ours');
    expect(judge('own', seen({ git: { ...listed, prunable: true } }))).toBe('not-ours');
    expect(judge('own', seen({ git: { kind: 'unlisted' } }))).toBe('not-ours');
  });

  it('what is gone is gone only where it was, and what could not be seen is unknown', () => {
    expect(judge('own', seen({ directory: 'absent' }))).toBe('directory-gone');
    expect(judge('own', seen({ directory: 'absent', git: { kind: 'unlisted' } }))).toBe('absent');
    expect(judge('own', seen({ directory: 'absent', authority: 'lost', git: { kind: 'unlisted' } }))).toBe(
      'not-ours',
    );
    expect(judge('own', seen({ git: { kind: 'unknown' } }))).toBe('unknown');
    expect(judge('own', seen({ directory: 'unknown' }))).toBe('unknown');
    expect(judge('own', seen({ repository: 'absent' }))).toBe('unknown');
  });
});

it('a start of the node deletes, cleans and doubts on evidence alone', () => {
  const plan = (more: Partial<LeaseFacts>, verdict: ReturnType<typeof judge>) =>
    planStart(facts(more), verdict).kind;
  expect(plan({ state: 'allocating' }, 'absent')).toBe('delete');
  expect(plan({ state: 'allocating' }, 'owned')).toBe('settle');
  expect(plan({ state: 'allocating' }, 'not-ours')).toBe('doubt');
  expect(plan({ state: 'allocating' }, 'unknown')).toBe('doubt');
  expect(plan({}, 'owned')).toBe('settle');
  expect(plan({}, 'absent')).toBe('clean');
  expect(plan({}, 'directory-gone')).toBe('clean');
  expect(plan({ held: true }, 'absent')).toBe('doubt');
  expect(plan({ held: true }, 'directory-gone')).toBe('doubt');
  expect(plan({}, 'unknown')).toBe('leave');
  expect(plan({ cleaning: true }, 'owned')).toBe('clean');
  expect(plan({ cleaning: true, held: true }, 'owned')).toBe('settle');
  expect(plan({ state: 'recovery-required', failure: 'worktree-setup-failed' }, 'owned')).toBe('leave');
  expect(plan({ state: 'recovery-required', failure: 'git-failed' }, 'owned')).toBe('settle');
});

it('nothing is offered that would lose anything', () => {
  expect(choicesFor(facts(), whole, 'owned')).toEqual(['keep', 'retry-cleanup']);
  expect(choicesFor(facts({ held: true }), whole, 'owned')).toEqual(['keep']);
  expect(choicesFor(facts({ state: 'cleanup-blocked' }), whole, 'owned')).toContain('adopt-as-ready');
  expect(choicesFor(facts({ state: 'removed' }), whole, 'owned')).toEqual([]);
  const gone = seen({ directory: 'absent', git: { kind: 'unlisted' } });
  expect(choicesFor(facts(), gone, 'absent')).toEqual(['retry-cleanup', 'forget']);
  expect(choicesFor(facts({ held: true }), gone, 'absent')).toEqual([]);
  expect(choicesFor(facts(), seen({ authority: 'lost' }), 'not-ours')).toEqual([]);
});
