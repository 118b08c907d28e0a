// One at a time changes the worktrees of a repository, by whatever of its checkouts it is reached.
import type { Lock } from '@roost/protocol';

/** `commonDirectory`: the canonical path of the git directory that all its worktrees share. */
export const repositoryLock = (commonDirectory: string): Lock => ({ key: `repository:${commonDirectory}` });
