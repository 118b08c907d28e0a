// In which state a managed worktree is after something happened to it. Pure: every change of a lease's state passes here, so no
// state is left or entered in a way that is not written down.
import type { FailureCode, LeaseState, WorktreeLease, WorktreeRetention } from '@roost/protocol';

export interface LeaseStanding {
  readonly state: LeaseState;
  readonly failure: FailureCode | null;
  readonly retention: WorktreeRetention;
}

export type LeaseNews =
  /** It is there, and set up. */
  | { readonly kind: 'prepared' }
  /** Sessions or resumable records are in it, or none are any more. */
  | { readonly kind: 'holders'; readonly any: boolean }
  /** It was to go, and something stands against it. */
  | { readonly kind: 'blocked'; readonly failure: FailureCode }
  /** What is known and what is there do not fit together. */
  | { readonly kind: 'doubted'; readonly failure: FailureCode }
  /** The evidence says that it is ours and whole. */
  | { readonly kind: 'settled'; readonly held: boolean }
  | { readonly kind: 'ended'; readonly outcome: NonNullable<WorktreeLease['outcome']> };

/** null: in that state, that is no news. */
export function nextStanding(
  { state, failure, retention }: LeaseStanding,
  news: LeaseNews,
): Pick<LeaseStanding, 'state' | 'failure'> | null {
  if (state === 'removed') return null;
  const resting = retention === 'retain' ? 'retained' : 'ready';
  switch (news.kind) {
    case 'prepared':
      return state === 'allocating' ? { state: 'ready', failure: null } : null;
    case 'holders':
      if (news.any)
        return canBeHeld(state) ? changed({ state, failure }, { state: 'in-use', failure: null }) : null;
      return state === 'in-use' ? { state: resting, failure: null } : null;
    case 'blocked':
      return state === 'allocating' ? null : { state: 'cleanup-blocked', failure: news.failure };
    case 'doubted':
      return { state: 'recovery-required', failure: news.failure };
    case 'settled':
      return changed({ state, failure }, { state: news.held ? 'in-use' : resting, failure: null });
    case 'ended':
      return { state: 'removed', failure: null };
  }
}

/** Whether sessions may come to work in it. What stood against its removal does not stand against its use. */
export function canBeHeld(state: LeaseState): boolean {
  switch (state) {
    case 'ready':
    case 'retained':
    case 'in-use':
    case 'cleanup-blocked':
      return true;
    case 'allocating':
    case 'recovery-required':
    case 'removed':
      return false;
  }
}

function changed(
  before: Pick<LeaseStanding, 'state' | 'failure'>,
  after: Pick<LeaseStanding, 'state' | 'failure'>,
): Pick<LeaseStanding, 'state' | 'failure'> | null {
  return before.state === after.state && before.failure === after.failure ? null : after;
}
