import { expect, it } from 'vitest';
import { FailureError } from '@roost/protocol';
import { Reservations } from './reservations.ts';

const codeOf = (act: () => unknown) => {
  try {
    act();
    return null;
  } catch (error) {
    return error instanceof FailureError ? error.failure.code : 'thrown';
  }
};

it('a held directory refuses what lies in it, a second holder, and what would contain it', () => {
  const reservations = new Reservations();
  const give = reservations.take('/w/one');
  for (const directory of ['/w/one', '/w/one/deep/er']) {
    expect(codeOf(() => reservations.requireFree(directory))).toBe('worktree-changing');
  }
  for (const directory of ['/w/one', '/w/one/deep', '/w', '/']) {
    expect(codeOf(() => reservations.take(directory))).toBe('worktree-changing');
  }
  for (const directory of ['/w', '/w/one-more', '/w/on']) {
    expect(codeOf(() => reservations.requireFree(directory))).toBeNull();
  }
  give();
  expect(codeOf(() => reservations.requireFree('/w/one'))).toBeNull();
});

it('giving back twice frees nobody else', () => {
  const reservations = new Reservations();
  const give = reservations.take('/w/one');
  give();
  reservations.take('/w/one');
  give();
  expect(codeOf(() => reservations.requireFree('/w/one'))).toBe('worktree-changing');
});
