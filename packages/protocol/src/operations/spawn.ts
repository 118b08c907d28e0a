import * as z from 'zod';
import { Failure } from '../failures.ts';
import { IdempotencyKey } from '../ids.ts';
import { operation } from '../operation.ts';
import { SpawnProfileSummary, SpawnReceipt, SpawnSpec } from '../spawn-spec.ts';

/** What any launch by spec can answer. */
export const LAUNCH_FAILURES = [
  'spawn-target-mismatch',
  'unknown-spawn-profile',
  'spawn-profile-revision-mismatch',
  'unsupported-spawn-capability',
  'session-option-unsupported',
  'spawn-idempotency-conflict',
  'spawn-idempotency-capacity',
  'spawn-deadline-exceeded',
  'unknown-environment-profile',
  'unknown-bundle',
  'unknown-context-pack',
  'unknown-workspace',
  'workspace-busy',
  'worktree-changing',
  'worktree-service-mode',
  'worktree-protected',
  'not-git-repository',
  'no-working-tree',
  'git-ownership-refused',
  'git-failed',
  'git-timed-out',
  'git-not-installed',
  'unknown-provider',
  'provider-not-installed',
  'invalid-directory',
  'name-taken',
  'sessions-exhausted',
  'records-exhausted',
  'workspaces-exhausted',
  'spawn-failed',
  'keeper-unavailable',
  'worktree-managed',
  'worktree-recovery-required',
  'unknown-worktree-lease',
] as const;

export const spawnSubmit = operation({
  name: 'spawn.submit',
  summary:
    'Launches from a profile, exactly once for its idempotency key: asking again answers the first outcome. Goes on when the connection ends.',
  access: 'controller',
  capability: 'spawn-spec.profile-revision-v1',
  params: () => SpawnSpec,
  result: () => SpawnReceipt,
  failures: LAUNCH_FAILURES,
});

export const spawnResult = operation({
  name: 'spawn.result',
  summary: 'Tells what became of the launch with this idempotency key.',
  access: 'operator',
  capability: 'spawn-spec.profile-revision-v1',
  params: () => z.strictObject({ idempotencyKey: IdempotencyKey }),
  result: () =>
    z.discriminatedUnion('state', [
      /** Never asked for, refused before anything was done, or forgotten. */
      z.object({ state: z.literal('unknown') }),
      z.object({ state: z.literal('pending') }),
      z.object({ state: z.literal('accepted'), receipt: SpawnReceipt }),
      z.object({ state: z.literal('failed'), failure: Failure }),
    ]),
  failures: [],
});

export const profileList = operation({
  name: 'profile.list',
  summary: 'Lists the spawn profiles of this node, read anew, and the files that cannot be used.',
  access: 'observer',
  capability: 'spawn-spec.defaults-overrides-v1',
  params: () => z.strictObject({}),
  result: () =>
    z.object({
      profiles: z.array(SpawnProfileSummary),
      /** Names of files and what is wrong with them. */
      faults: z.array(z.object({ file: z.string(), fault: z.string() })),
    }),
  failures: [],
});
