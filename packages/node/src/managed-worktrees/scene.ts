// What the parts of managed worktrees share.
import type { KeyedLocks } from '../control/keyed-locks.ts';
import { Deadline } from '../deadline.ts';
import type { GitCalls } from '../git/git-calls.ts';
import type { GitSource } from '../git/run-git.ts';
import type { Log } from '@roost/storage';
import type { Removals } from '../sessions/removals.ts';
import type { Store } from '../store/store.ts';
import type { GitWorktrees } from '../worktrees/git-worktrees.ts';
import type { ServiceModes } from '../worktrees/service-mode.ts';
import type { PortRange } from './port-blocks.ts';
import type { WorktreeProfiles } from './worktree-profiles.ts';
import { repositoryLock } from '../worktrees/repository-lock.ts';

/** Moments between a stored intent, its effect and its stored outcome: where a crash has to leave something that heals. */
type FaultPoint =
  | 'lease-reserved'
  | 'worktree-added'
  | 'files-copied'
  | 'set-up-done'
  | 'lease-ready'
  | 'session-started'
  | 'cleanup-begun'
  | 'torn-down'
  | 'commits-kept'
  | 'worktree-removed'
  | 'branch-settled'
  | 'lease-removed';

export interface ManagedScene {
  readonly store: Store;
  readonly log: Log;
  readonly profiles: WorktreeProfiles;
  readonly worktrees: GitWorktrees;
  readonly git: GitCalls;
  readonly source: GitSource;
  /** The node's state directory. */
  readonly home: string;
  readonly ports: PortRange;
  readonly removals: Pick<Removals, 'clean'>;
  readonly modes: Pick<ServiceModes, 'of'>;
  /** One at a time works on a lease. */
  readonly locks: KeyedLocks;
  /** One at a time adds and removes worktrees of a repository. */
  readonly repositories: KeyedLocks;
  /** Aborted when the node stops: what is under way is left as it is, for the next start. */
  readonly signal: AbortSignal;
  readonly reached: (point: FaultPoint) => void | Promise<void>;
}

/** One at a time adds and removes worktrees of a repository. */
export async function alone<Outcome>(
  { repositories, worktrees }: Pick<ManagedScene, 'repositories' | 'worktrees'>,
  repositoryRoot: string,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const common = await worktrees.commonDirectory(repositoryRoot, Deadline.in(LOOK_MS));
  const release = await repositories.acquire([repositoryLock(common)]);
  try {
    return await work();
  } finally {
    release();
  }
}

/** Milliseconds for git to look at something. */
export const LOOK_MS = 30_000;
/** Milliseconds for git to make or remove a worktree. */
export const CHANGE_MS = 180_000;
