import * as z from 'zod';
import type { FailureCode } from '../failures.ts';
import { BranchName } from '../git.ts';
import { IdempotencyKey, LeaseId, ProfileId, Revision, SessionName } from '../ids.ts';
import { LeaseChoice, LeaseEvidence, WorktreeLease, WorktreeProfileSummary } from '../managed-worktree.ts';
import { operation } from '../operation.ts';
import { SpawnReceipt, SpawnSpec } from '../spawn-spec.ts';
import { LAUNCH_FAILURES } from './spawn.ts';

const ALLOCATION_FAILURES = [
  'unknown-worktree-profile',
  'worktree-profile-revision-mismatch',
  'worktree-profile-unusable',
  'worktree-service-mode',
  'unknown-workspace',
  'workspaces-exhausted',
  'worktrees-exhausted',
  'worktree-ports-exhausted',
  'worktree-setup-failed',
  'worktree-recovery-required',
  'spawn-idempotency-conflict',
  'not-git-repository',
  'worktree-conflict',
  'worktree-protected',
  'branch-exists',
  'invalid-revision',
  'git-failed',
  'git-timed-out',
  'git-not-installed',
] as const;

const REMOVAL_FAILURES = [
  'unknown-worktree-lease',
  'worktree-in-use',
  'worktree-dirty',
  'worktree-locked',
  'worktree-conflict',
  'worktree-protected',
  'worktree-recovery-required',
  'worktree-teardown-failed',
  'not-git-repository',
  'git-failed',
  'git-timed-out',
  'git-not-installed',
] as const;

/** What a new worktree is made from. */
const newWorktree = {
  profileId: ProfileId,
  /** Refused when the profile has another. */
  expectedRevision: Revision,
  /** Stands for `{name}` in the profile's template. */
  name: SessionName.nullable().default(null),
  /** The branch itself instead of one made from the template. It is made, never taken over. */
  branch: BranchName.nullable().default(null),
};

export const worktreeProfiles = operation({
  name: 'worktree.profiles',
  summary: 'Lists the worktree profiles as their files are now, and the files that are none.',
  access: 'observer',
  capability: 'managed-worktree-lifecycle-v1',
  params: () => z.strictObject({}),
  result: () =>
    z.object({
      profiles: z.array(WorktreeProfileSummary),
      /** Files that are no profiles, and what is wrong with them. */
      faults: z.array(z.object({ file: z.string(), fault: z.string() })),
    }),
  failures: [],
});

export const worktreeLeases = operation({
  name: 'worktree.leases',
  summary: 'Lists the managed worktrees, oldest first; removed ones only when asked for.',
  access: 'observer',
  capability: 'managed-worktree-lifecycle-v1',
  params: () => z.strictObject({ includeRemoved: z.boolean().default(false) }),
  result: () => z.object({ leases: z.array(WorktreeLease) }),
  failures: [],
});

export const worktreeAllocate = operation({
  name: 'worktree.allocate',
  summary:
    'Makes a managed worktree for later launches, exactly once for its idempotency key, and sets it up. Goes on when the connection ends.',
  access: 'controller',
  capability: 'managed-worktree-lifecycle-v1',
  params: () => z.strictObject({ ...newWorktree, idempotencyKey: IdempotencyKey }),
  result: () => WorktreeLease,
  failures: ALLOCATION_FAILURES,
});

export const worktreeSpawn = operation({
  name: 'worktree.spawn',
  summary:
    'Launches from a profile into a new managed worktree, or into one that is there; exactly once for its idempotency key, as `spawn.submit`.',
  access: 'controller',
  capability: 'managed-worktree-spawn-v2',
  params: () =>
    z.strictObject({
      spec: SpawnSpec,
      worktree: z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('new'), ...newWorktree }),
        z.strictObject({ kind: z.literal('lease'), leaseId: LeaseId }),
      ]),
    }),
  result: () => SpawnReceipt,
  failures: [...new Set<FailureCode>([...LAUNCH_FAILURES, ...ALLOCATION_FAILURES, 'worktree-in-use'])],
});

export const worktreeCleanup = operation({
  name: 'worktree.cleanup',
  summary:
    'Takes a managed worktree away: never by force, never while a session or a resumable record needs it. A removed one is answered again.',
  access: 'controller',
  capability: 'managed-worktree-lifecycle-v1',
  params: () => z.strictObject({ leaseId: LeaseId }),
  result: () => WorktreeLease,
  failures: REMOVAL_FAILURES,
});

export const worktreeEvidence = operation({
  name: 'worktree.evidence',
  summary:
    'Tells what git, the file system and the tables say of one managed worktree, and what can be decided about it.',
  access: 'operator',
  capability: 'managed-worktree-lifecycle-v1',
  params: () => z.strictObject({ leaseId: LeaseId }),
  result: () => LeaseEvidence,
  failures: ['unknown-worktree-lease'],
});

export const worktreeResolve = operation({
  name: 'worktree.resolve',
  summary: 'Decides about a managed worktree: one of the choices that its evidence offers at that moment.',
  access: 'controller',
  capability: 'managed-worktree-lifecycle-v1',
  params: () => z.strictObject({ leaseId: LeaseId, choice: LeaseChoice }),
  result: () => WorktreeLease,
  failures: [...REMOVAL_FAILURES, 'worktree-choice-refused', 'workspaces-exhausted'],
});
