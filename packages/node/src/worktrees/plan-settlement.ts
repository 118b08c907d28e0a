// How something that was begun with a worktree ended, decided by what is there and nothing else. Pure.
import type { WorktreeRecovery } from '@roost/protocol';
import type { IntentRow } from './intent-table.ts';
import type { WorktreeEntry } from './worktree-list.ts';
import type { Presence } from './worktree-target.ts';

export interface Evidence {
  /** Whether git, which was started for it, still runs. */
  readonly gitRuns: boolean;
  /** What git lists at the path. */
  readonly entry: WorktreeEntry | null;
  readonly presence: Presence;
  /** Whether what stands there and the repository name each other. */
  readonly isProven: boolean;
}

export type Settlement =
  /** It never happened, or nothing is left of it. */
  | { readonly kind: 'drop' }
  /** It was made: register it. */
  | { readonly kind: 'register' }
  /** It is gone: unregister it. */
  | { readonly kind: 'unregister' }
  /** Its directory is gone, git still lists it: forget that entry, then look again. */
  | { readonly kind: 'forget-entry' }
  /** Its removal broke off: put back what is missing of a tree that was clean, then drop. */
  | { readonly kind: 'restore' }
  | { readonly kind: 'keep'; readonly why: WorktreeRecovery['why'] };

export function planSettlement(intent: Pick<IntentRow, 'act' | 'branch'>, evidence: Evidence): Settlement {
  const { gitRuns, entry, presence, isProven } = evidence;
  if (gitRuns) return { kind: 'keep', why: 'running' };
  const isCreation = intent.act === 'create';
  if (presence === 'absent') {
    if (entry === null) return { kind: isCreation ? 'drop' : 'unregister' };
    // Somebody wants it to stay though it is not there.
    return entry.locked === null || isBeingMade(entry)
      ? { kind: 'forget-entry' }
      : { kind: 'keep', why: 'incomplete' };
  }
  if (entry === null) return { kind: 'keep', why: 'foreign' };
  if (isCreation) {
    if (isBeingMade(entry)) return { kind: 'keep', why: 'incomplete' };
    const isOurs = isProven && entry.branch === intent.branch;
    return isOurs ? { kind: 'register' } : { kind: 'keep', why: 'foreign' };
  }
  if (presence === 'other') return { kind: 'keep', why: 'foreign' };
  return { kind: 'restore' };
}

/** Git locks what it is making, and says so; it unlocks it when all files are there. */
function isBeingMade(entry: WorktreeEntry): boolean {
  return entry.locked === 'initializing';
}
