// What the evidence about a managed worktree means. Pure: from what was seen to a verdict, from the verdict to what may be done. What
// could not be seen is unknown, and on unknown grounds nothing is deleted.
import type { FailureCode, LeaseChoice, LeaseEvidence, LeaseState } from '@roost/protocol';

export type Sighting = Pick<LeaseEvidence, 'directory' | 'authority' | 'repository' | 'git'> & {
  /** It is the repository's main or bare worktree. */
  readonly isMain: boolean;
};
export type Verdict = LeaseEvidence['verdict'];

/** owned: path and branch are exactly those of the lease. Its head may have moved on: agents commit. */
export function judge(branch: string, seen: Sighting): Verdict {
  const { directory, authority, repository, git } = seen;
  if (directory === 'unknown' || git.kind === 'unknown' || repository === 'absent') return 'unknown';
  // Another directory in the place of the one that it was made in shows nothing of ours, not even that it is gone.
  if (authority === 'lost') return 'not-ours';
  if (git.kind === 'unlisted') return directory === 'absent' ? 'absent' : 'not-ours';
  if (seen.isMain || git.branch !== branch || directory === 'not-a-directory') return 'not-ours';
  if (directory === 'absent') return 'directory-gone';
  return git.prunable ? 'not-ours' : 'owned';
}

export interface LeaseFacts {
  readonly state: LeaseState;
  readonly failure: FailureCode | null;
  /** Its removal has begun. */
  readonly cleaning: boolean;
  /** Sessions live in it, or records can be resumed there. */
  readonly held: boolean;
}

/** What a person may decide. */
export function choicesFor({ state, held }: LeaseFacts, seen: Sighting, verdict: Verdict): LeaseChoice[] {
  if (state === 'removed') return [];
  const choices: LeaseChoice[] = [];
  const isWorktree = seen.git.kind === 'listed' && !seen.git.prunable && !seen.isMain;
  if (isWorktree && seen.directory === 'present' && seen.authority === 'held') choices.push('keep');
  const mayGo = verdict === 'owned' || verdict === 'directory-gone' || verdict === 'absent';
  if (mayGo && !held) choices.push('retry-cleanup');
  if (verdict === 'absent' && !held) choices.push('forget');
  if (verdict === 'owned' && (state === 'recovery-required' || state === 'cleanup-blocked')) {
    choices.push('adopt-as-ready');
  }
  return choices;
}

export type StartAction =
  /** Nothing came of its making: the row goes. */
  | { readonly kind: 'delete' }
  /** It is ours and whole: it is what its holders make of it. */
  | { readonly kind: 'settle' }
  /** Its removal is begun, or goes on. */
  | { readonly kind: 'clean' }
  | { readonly kind: 'doubt'; readonly failure: FailureCode }
  | { readonly kind: 'leave' };

/** What a start of the node does about one that is not removed. */
export function planStart({ state, failure, cleaning, held }: LeaseFacts, verdict: Verdict): StartAction {
  switch (verdict) {
    case 'owned':
      if (cleaning && !held) return { kind: 'clean' };
      // What its set-up left behind is for a person to see.
      if (state === 'recovery-required' && failure === 'worktree-setup-failed') return { kind: 'leave' };
      return { kind: 'settle' };
    case 'directory-gone':
      return held ? { kind: 'doubt', failure: 'worktree-missing' } : { kind: 'clean' };
    case 'absent':
      if (held) return { kind: 'doubt', failure: 'worktree-missing' };
      return { kind: state === 'allocating' ? 'delete' : 'clean' };
    case 'not-ours':
      return { kind: 'doubt', failure: 'worktree-not-owned' };
    case 'unknown':
      // An unreachable disk is no reason to keep agents from going on.
      return state === 'allocating' || cleaning
        ? { kind: 'doubt', failure: 'git-failed' }
        : { kind: 'leave' };
  }
}
