/** The durable identity behind sessions. */
import * as z from 'zod';
import { lazySchema } from './lazy-schema.ts';
import { gated, ProviderId } from './gates.ts';
import { RecordId, ResourceId, Revision, SessionAddress, SessionName, TaskId, WorkspaceId } from './ids.ts';
import { Transport } from './session.ts';

/**
 * live: a run of it lives. identity-pending: a run lives, and the provider has yet to tell its own session id. dormant: no run
 * lives; it can be resumed. unavailable: it cannot; `lastError` may tell why.
 */
export const RecordState = z.enum(['live', 'identity-pending', 'dormant', 'unavailable']);
export type RecordState = z.infer<typeof RecordState>;

/** What went wrong with a record, in words that hold no text of a provider. */
export const RecordError = z.enum([
  'provider-runtime-failed',
  'provider-session-scope-conflict',
  'provider-session-live-conflict',
  'provider-resume-rejected',
  'managed-session-capacity',
  'environment-profile-unavailable',
  'bundle-unavailable',
  'context-unavailable',
  'workspace-unavailable',
  'keeper-died',
]);
export type RecordError = z.infer<typeof RecordError>;

/** A session in the provider's own words. Two are the same when provider, key and id are. */
export const ProviderSession = z.strictObject({
  key: z.enum(['session-id']),
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,255}$/, '1-256 of letters, digits, . _ : -'),
  /** Where the provider keeps the conversation; forgotten when the node restarts. */
  transcriptPath: z.string().max(4096).nullable().default(null),
});
export type ProviderSession = z.infer<typeof ProviderSession>;

/** Which task a record works on. `revision` grows with every change, also when the task is cleared. */
export const TaskBinding = z.object({
  revision: z.int().positive(),
  taskId: TaskId.nullable(),
  changedAt: z.iso.datetime(),
});
export type TaskBinding = z.infer<typeof TaskBinding>;

export const EnvironmentReceipt = z.object({ profileId: ResourceId, revision: Revision });
export type EnvironmentReceipt = z.infer<typeof EnvironmentReceipt>;

const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'sha256: and 64 hexadecimal digits');
export const BundleReceipt = z.object({ id: ResourceId, revision: Revision, digest: Digest });
export type BundleReceipt = z.infer<typeof BundleReceipt>;
export const ContextReceipt = z.object({ id: ResourceId, digest: Digest });
export type ContextReceipt = z.infer<typeof ContextReceipt>;

export const SessionRecord = lazySchema(() =>
  z.object({
    id: RecordId,
    /** Also the name of its live session. */
    name: SessionName,
    provider: ProviderId,
    transport: Transport,
    state: RecordState,
    workspaceId: WorkspaceId,
    /** Root of the workspace when the record was made: it is resumed there or not at all. */
    workspaceRoot: z.string(),
    directory: z.string(),
    /** Runs so far. */
    generation: z.int().nonnegative(),
    /** The provider's own session; null while unknown. */
    providerSession: ProviderSession.nullable(),
    /** The run that lives, or that a conflict left running. */
    activeSession: SessionAddress.nullable(),
    environmentProfile: gated('child-environment-profile-v1', EnvironmentReceipt.nullable()),
    bundle: gated('session-bundle-materialization-v1', BundleReceipt.nullable()),
    context: gated('history-context-pack-v1', ContextReceipt.nullable()),
    taskBinding: gated('session-task-correlation-v1', TaskBinding.nullable()),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    lastError: RecordError.nullable(),
  }),
);
export type SessionRecord = z.infer<typeof SessionRecord>;
