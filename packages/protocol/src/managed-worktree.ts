/**
 * Worktrees that Roost makes, owns and takes away again: what a profile says about them, what is known of each, and what the file
 * system and git say of one when a person has to decide.
 */
import * as z from 'zod';
import { boundedText } from './bounded-text.ts';
import {
  ARGUMENT_BYTES_MAX,
  ARGUMENTS_MAX,
  WORKTREE_COMMANDS_MAX,
  WORKTREE_COMMAND_MS_DEFAULT,
  WORKTREE_COMMAND_MS_MAX,
  WORKTREE_COPY_PATHS_MAX,
  WORKTREE_OUTPUT_BYTES_MAX,
  WORKTREE_PORTS_MAX,
} from './bounds.ts';
import { FAILURE_CODES } from './failures.ts';
import { BranchName, GitObjectId } from './git.ts';
import { AbsolutePath, LeaseId, ProfileId, Revision, WorkspaceId } from './ids.ts';
import { lazySchema } from './lazy-schema.ts';
import { RepositoryPath } from './repository-path.ts';

/** remove-when-released: it goes with the last session or resumable record in it. retain: somebody has to ask. */
export const WorktreeRetention = z.enum(['remove-when-released', 'retain']);
export type WorktreeRetention = z.infer<typeof WorktreeRetention>;

const text = boundedText(ARGUMENT_BYTES_MAX).refine((value) => !value.includes('\0'), 'no NUL');

/** A program with its arguments, run in the worktree without a shell in between. */
export const WorktreeCommand = z.strictObject({
  command: z.array(text).min(1).max(ARGUMENTS_MAX),
  /** Milliseconds; past that it is ended with everything it started. */
  timeoutMs: z.int().min(1).max(WORKTREE_COMMAND_MS_MAX).default(WORKTREE_COMMAND_MS_DEFAULT),
});
export type WorktreeCommand = z.infer<typeof WorktreeCommand>;

const commands = z.array(WorktreeCommand).max(WORKTREE_COMMANDS_MAX).default([]);

/** A file `profiles/worktree/<id>.json` of the state directory. */
export const WorktreeProfile = lazySchema(() =>
  z.strictObject({
    /** Without one, the revision is made from the content. */
    revision: Revision.optional(),
    description: z.string().max(512).optional(),
    /** The workspace whose repository gets the worktrees. */
    sourceWorkspace: WorkspaceId,
    /** The directory in which they are made. It has to be there, outside of the repository, and is not the home directory. */
    targetRoot: AbsolutePath,
    /** `{name}`: what the launch names, else the lease id. `{id}`: the lease id. Without either, a slash and the name follow. */
    branchTemplate: BranchName.default('roost/{name}'),
    /** `head`: what the source workspace has checked out. Anything else is a revision, such as `origin/main`. */
    base: z
      .string()
      .min(1)
      .max(1024)
      .regex(/^[^-\p{Cc}][^\p{Cc}]*$/u, 'a revision begins with no dash and holds no control characters')
      .default('head'),
    retention: WorktreeRetention.default('remove-when-released'),
    setup: commands,
    teardown: commands,
    /** Ignored files or directories of the source workspace that a new worktree gets copies of. */
    copy: z.array(RepositoryPath).max(WORKTREE_COPY_PATHS_MAX).default([]),
    /** true: all ignored files go with the worktree. false: only those that Roost put there, and what tools make anew. */
    discardIgnored: z.boolean().default(false),
    ports: z.strictObject({ count: z.int().min(1).max(WORKTREE_PORTS_MAX) }).optional(),
  }),
);
export type WorktreeProfile = z.infer<typeof WorktreeProfile>;

/** What everybody may know of a profile: no path, no command. */
export const WorktreeProfileSummary = lazySchema(() =>
  z.object({
    id: ProfileId,
    revision: Revision,
    description: z.string().nullable(),
    sourceWorkspace: WorkspaceId,
    retention: WorktreeRetention,
    ports: z.int().nonnegative(),
  }),
);
export type WorktreeProfileSummary = z.infer<typeof WorktreeProfileSummary>;

/**
 * allocating: it is being made. ready: nobody works in it. in-use: a session lives in it, or a record that can be resumed there.
 * retained: as ready, and it stays. cleanup-blocked: it was to go, and something stands against it. recovery-required: what is
 * known and what is there do not fit together, or its set-up failed; a person decides. removed: it is gone, or not ours any more.
 */
export const LeaseState = z.enum([
  'allocating',
  'ready',
  'in-use',
  'retained',
  'cleanup-blocked',
  'recovery-required',
  'removed',
]);
export type LeaseState = z.infer<typeof LeaseState>;

/** Free ports that belong to one worktree, in a row. */
export const PortBlock = z.object({
  base: z.int().min(1).max(65_535),
  count: z.int().min(1).max(WORKTREE_PORTS_MAX),
});
export type PortBlock = z.infer<typeof PortBlock>;

const unchanging = {
  /** The workspace of the worktree itself. */
  workspaceId: WorkspaceId,
  sourceWorkspaceId: WorkspaceId,
  profileId: ProfileId,
  profileRevision: Revision,
  branch: z.string(),
  baseCommit: GitObjectId,
  ports: PortBlock.nullable(),
};

/** What of a worktree never changes: part of the receipt of a launch into it. */
export const WorktreeReceipt = z.object({ leaseId: LeaseId, ...unchanging });
export type WorktreeReceipt = z.infer<typeof WorktreeReceipt>;

/** A managed worktree, whole; without paths and output. */
export const WorktreeLease = lazySchema(() =>
  z.object({
    id: LeaseId,
    ...unchanging,
    state: LeaseState,
    /** Why it is cleanup-blocked or recovery-required. */
    failure: z.enum(FAILURE_CODES).nullable(),
    retention: WorktreeRetention,
    /** The commit that it was at when it was last looked at. */
    head: GitObjectId.nullable(),
    setup: z.enum(['pending', 'done', 'failed']),
    /** Live sessions and resumable records in it. */
    holders: z.object({ sessions: z.int().nonnegative(), records: z.int().nonnegative() }),
    /** Refs that were made before the removal for commits that nothing else reached. */
    recoveryRefs: z.array(z.string()),
    /** How it ended; null while it has not. */
    outcome: z.enum(['removed', 'kept', 'forgotten']).nullable(),
    /** Whether its branch is still there after the removal; null before. */
    branchKept: z.boolean().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  }),
);
export type WorktreeLease = z.infer<typeof WorktreeLease>;

/** How a set-up or tear-down went. */
export const CommandReceipt = z.object({
  outcome: z.enum(['done', 'failed', 'timed-out', 'not-started']),
  /** Which command it ended with, counted from 0; null when there was none. */
  command: z.int().nonnegative().nullable(),
  exitCode: z.int().nullable(),
  /** The last output of all commands. */
  output: boundedText(WORKTREE_OUTPUT_BYTES_MAX + 64),
  truncated: z.boolean(),
  /** Paths that were to be copied and could not be: why. */
  notCopied: z.array(
    z.object({
      path: RepositoryPath,
      reason: z.enum(['missing', 'not-ignored', 'link', 'not-a-file', 'too-large', 'exists', 'unreadable']),
    }),
  ),
  at: z.iso.datetime(),
});
export type CommandReceipt = z.infer<typeof CommandReceipt>;

/** What a person can decide about a worktree; only what the evidence allows is offered. */
export const LeaseChoice = z.enum([
  /** It becomes an ordinary worktree and workspace. */
  'keep',
  /** It is removed, unless something is in the way. */
  'retry-cleanup',
  /** Nothing of it is left: only the entry goes. */
  'forget',
  /** It is ours and whole: sessions may work in it again. */
  'adopt-as-ready',
]);
export type LeaseChoice = z.infer<typeof LeaseChoice>;

/** What the file system, git and the tables say of one worktree. */
export const LeaseEvidence = lazySchema(() =>
  z.object({
    lease: WorktreeLease,
    target: z.string(),
    /** unknown: it could not be looked at. */
    directory: z.enum(['present', 'absent', 'not-a-directory', 'unknown']),
    /** Whether the directory in which it was made is still the one it was. */
    authority: z.enum(['held', 'lost']),
    repository: z.enum(['present', 'absent']),
    git: z.discriminatedUnion('kind', [
      z.object({
        kind: z.literal('listed'),
        branch: z.string().nullable(),
        head: z.string().nullable(),
        locked: z.boolean(),
        prunable: z.boolean(),
      }),
      z.object({ kind: z.literal('unlisted') }),
      z.object({ kind: z.literal('unknown') }),
    ]),
    /** Whether anything in it is not committed; unknown also when it is not there. */
    clean: z.enum(['yes', 'no', 'unknown']),
    /** owned: exactly the worktree of this lease, by path and branch. */
    verdict: z.enum(['owned', 'directory-gone', 'absent', 'not-ours', 'unknown']),
    workspaceRegistered: z.boolean(),
    setup: CommandReceipt.nullable(),
    teardown: CommandReceipt.nullable(),
    choices: z.array(LeaseChoice),
  }),
);
export type LeaseEvidence = z.infer<typeof LeaseEvidence>;
