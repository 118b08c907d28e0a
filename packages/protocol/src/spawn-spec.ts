/**
 * A declarative launch: a profile's defaults, what overrides them, and the conditions under which it may happen. The receipt
 * tells what came of it, field by field.
 */
import * as z from 'zod';
import { lazySchema } from './lazy-schema.ts';
import { boundedText } from './bounded-text.ts';
import {
  ARGUMENTS_MAX,
  ARGUMENT_BYTES_MAX,
  INITIAL_PROMPT_BYTES_MAX,
  REQUIRED_CAPABILITIES_MAX,
  SPAWN_DEADLINE_MS_MAX,
} from './bounds.ts';
import { gated, gatedWhole, ProviderId } from './gates.ts';
import {
  IdempotencyKey,
  Incarnation,
  NodeId,
  ProfileId,
  RecordId,
  ResourceId,
  Revision,
  SessionAddress,
  SessionName,
  WorkspaceId,
} from './ids.ts';
import { InteractionPolicy } from './interaction.ts';
import { WorktreeReceipt } from './managed-worktree.ts';
import { BundleReceipt, ContextReceipt, EnvironmentReceipt } from './session-record.ts';
import { Transport } from './session.ts';
import { TerminalSize } from './terminal-size.ts';

/** What a provider can be relied on for with one transport. */
export const RuntimeCapability = z.enum([
  /** Its terminal can be started, typed into, stopped. */
  'raw-pty-lifecycle',
  /** It is known when it takes input. */
  'semantic-readiness',
  /** A prompt can be given as a prompt. */
  'structured-prompt',
  /** Its own session id is known. */
  'provider-session-identity',
  /** That session can be resumed. */
  'semantic-resume',
]);
export type RuntimeCapability = z.infer<typeof RuntimeCapability>;

const launchText = boundedText(ARGUMENT_BYTES_MAX).refine((text) => !text.includes('\0'), 'no NUL');

/** The values of one launch field, wherever they are written: in a profile, in an override. */
export const LAUNCH_FIELDS = {
  provider: ProviderId,
  transport: Transport,
  size: TerminalSize,
  arguments: z.array(launchText).max(ARGUMENTS_MAX),
  prompt: boundedText(INITIAL_PROMPT_BYTES_MAX),
  environmentProfile: ResourceId,
  bundle: ResourceId,
  context: ResourceId,
} as const;
export type LaunchField = keyof typeof LAUNCH_FIELDS;

/** A file `profiles/spawn/<id>.json` of the state directory. */
export const SpawnProfile = lazySchema(() =>
  z.strictObject({
    /** Without one, the revision is made from the content. */
    revision: Revision.optional(),
    description: z.string().max(512).optional(),
    provider: LAUNCH_FIELDS.provider,
    transport: LAUNCH_FIELDS.transport.default('pty'),
    size: LAUNCH_FIELDS.size.default({ columns: 80, rows: 24 }),
    arguments: LAUNCH_FIELDS.arguments.default([]),
    prompt: LAUNCH_FIELDS.prompt.optional(),
    environmentProfile: LAUNCH_FIELDS.environmentProfile.optional(),
    bundle: LAUNCH_FIELDS.bundle.optional(),
    context: LAUNCH_FIELDS.context.optional(),
    /** How what the agent asks is answered without a person; of sessions that are spoken with. */
    interactions: InteractionPolicy.optional(),
  }),
);
export type SpawnProfile = z.infer<typeof SpawnProfile>;

/** What everybody may know of a profile: no prompt, no arguments, no path. */
export const SpawnProfileSummary = lazySchema(() =>
  z.object({
    id: ProfileId,
    revision: Revision,
    description: z.string().nullable(),
    provider: ProviderId,
    transport: Transport,
    environmentProfile: gated('child-environment-profile-v1', EnvironmentReceipt.nullable()),
  }),
);
export type SpawnProfileSummary = z.infer<typeof SpawnProfileSummary>;

const inherit = z.strictObject({ kind: z.literal('inherit') });
const clear = z.strictObject({ kind: z.literal('clear') });
const setTo = <Value extends z.ZodType>(value: Value) => z.strictObject({ kind: z.literal('set'), value });
type SetTo<Value extends z.ZodType> = ReturnType<typeof setTo<Value>>;

/** inherit: the profile's value. set: this one. */
const replaceable = <Value extends z.ZodType>(set: SetTo<Value>) =>
  z.discriminatedUnion('kind', [inherit, set]).default({ kind: 'inherit' });
/** clear: none at all. */
const clearable = <Value extends z.ZodType>(set: SetTo<Value>) =>
  z.discriminatedUnion('kind', [inherit, set, clear]).default({ kind: 'inherit' });

export const SpawnOverrides = lazySchema(() =>
  z.strictObject({
    provider: replaceable(setTo(LAUNCH_FIELDS.provider)),
    transport: replaceable(setTo(LAUNCH_FIELDS.transport)),
    size: replaceable(setTo(LAUNCH_FIELDS.size)),
    arguments: clearable(setTo(LAUNCH_FIELDS.arguments)),
    prompt: clearable(setTo(LAUNCH_FIELDS.prompt)),
    environmentProfile: clearable(
      gatedWhole('child-environment-profile-v1', setTo(LAUNCH_FIELDS.environmentProfile)),
    ),
    bundle: clearable(gatedWhole('session-bundle-materialization-v1', setTo(LAUNCH_FIELDS.bundle))),
    context: clearable(gatedWhole('history-context-pack-v1', setTo(LAUNCH_FIELDS.context))),
  }),
);
export type SpawnOverrides = z.infer<typeof SpawnOverrides>;

export const SpawnTarget = lazySchema(() =>
  z.strictObject({
    nodeId: NodeId,
    workspaceId: WorkspaceId,
    /** A worktree of that workspace instead of its root. */
    worktreeId: gated('worktree-selection-v1', WorkspaceId.nullable().default(null)),
  }),
);
export type SpawnTarget = z.infer<typeof SpawnTarget>;

export const SpawnSpec = lazySchema(() =>
  z.strictObject({
    target: SpawnTarget,
    profileId: ProfileId,
    expectedRevision: Revision,
    overrides: SpawnOverrides.default({
      provider: { kind: 'inherit' },
      transport: { kind: 'inherit' },
      size: { kind: 'inherit' },
      arguments: { kind: 'inherit' },
      prompt: { kind: 'inherit' },
      environmentProfile: { kind: 'inherit' },
      bundle: { kind: 'inherit' },
      context: { kind: 'inherit' },
    }),
    /** What the session and its record are called; made from the provider otherwise. */
    name: SessionName.nullable().default(null),
    /** Milliseconds from acceptance until the process runs; past that nothing is left of it. */
    deadlineMs: z.int().min(1).max(SPAWN_DEADLINE_MS_MAX),
    idempotencyKey: IdempotencyKey,
    requiredCapabilities: z.array(RuntimeCapability).max(REQUIRED_CAPABILITIES_MAX).default([]),
  }),
);
export type SpawnSpec = z.infer<typeof SpawnSpec>;

/** Where the value of a field came from. */
export const Provenance = z.enum(['profile', 'override', 'cleared']);
export type Provenance = z.infer<typeof Provenance>;

export const SpawnReceipt = lazySchema(() =>
  z.object({
    incarnation: Incarnation,
    target: SpawnTarget,
    profileId: ProfileId,
    profileRevision: Revision,
    session: SessionAddress,
    recordId: RecordId,
    name: SessionName,
    provider: ProviderId,
    transport: Transport,
    size: TerminalSize,
    arguments: z.int().nonnegative(),
    /** Never the prompt itself. */
    prompt: z.object({ present: z.boolean(), byteLength: z.int().nonnegative() }),
    environmentProfile: gated('child-environment-profile-v1', EnvironmentReceipt.nullable()),
    bundle: gated('session-bundle-materialization-v1', BundleReceipt.nullable()),
    context: gated('history-context-pack-v1', ContextReceipt.nullable()),
    /** The managed worktree that it works in, when the launch was one into such a worktree. */
    worktree: gated('managed-worktree-spawn-v2', WorktreeReceipt.nullable().default(null)),
    provenance: z.object({
      provider: Provenance,
      transport: Provenance,
      size: Provenance,
      arguments: Provenance,
      prompt: Provenance,
      environmentProfile: Provenance,
      bundle: Provenance,
      context: Provenance,
    }),
    deadlineMs: z.int().positive(),
    idempotencyKey: IdempotencyKey,
    requiredCapabilities: z.array(RuntimeCapability),
  }),
);
export type SpawnReceipt = z.infer<typeof SpawnReceipt>;
