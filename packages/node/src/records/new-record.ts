// What a record's row says when the record comes to be: with its first run, or made of a session that exists at its provider.
import type {
  BundleReceipt,
  ContextReceipt,
  EnvironmentReceipt,
  InteractionPolicy,
  ProviderSession,
  RecordId,
  SessionId,
  SessionName,
  Transport,
  WorkspaceId,
} from '@roost/protocol';
import { attachedState, detachedState, providerFacts, type RecordPolicy } from './record-policy.ts';
import type { RecordRow } from './record-table.ts';

export interface NewRecord {
  readonly id: RecordId;
  readonly name: SessionName;
  readonly provider: string;
  readonly transport: Transport;
  readonly workspaceId: WorkspaceId;
  readonly workspaceRoot: string;
  readonly directory: string;
  /** A resume gives them again. */
  readonly arguments: readonly string[];
  readonly providerSession: Pick<ProviderSession, 'key' | 'id'> | null;
  /** null: it has none yet. */
  readonly run: { readonly id: SessionId; readonly generation: number } | null;
  readonly environmentProfile: EnvironmentReceipt | null;
  readonly bundle: BundleReceipt | null;
  readonly context: ContextReceipt | null;
  /** How what its runs ask is answered without a person. */
  readonly interactions?: InteractionPolicy | null;
  readonly createdAt: number;
}

/** Whether a launch of that provider makes a record. */
export function makesRecord(policy: RecordPolicy, provider: string, transport: Transport): boolean {
  return policy === 'always' || providerFacts(provider, transport).canIdentify;
}

/** A record that cannot be resumed is inventory: it says what ran, and holds no receipt of what that ran with. */
export function newRecordRow(record: NewRecord): RecordRow {
  const { provider, transport, providerSession, run } = record;
  const { canIdentify, canResume } = providerFacts(provider, transport);
  const receipt = (value: object | null) => (canIdentify && value !== null ? JSON.stringify(value) : null);
  const own = { provider_session_id: providerSession?.id ?? null };
  return {
    id: record.id,
    name: record.name,
    provider,
    transport,
    state: run === null ? detachedState(own, canResume) : attachedState(own, canIdentify),
    workspace_id: record.workspaceId,
    workspace_root: record.workspaceRoot,
    directory: record.directory,
    arguments: JSON.stringify(record.arguments),
    generation: run?.generation ?? 0,
    provider_session_key: providerSession?.key ?? null,
    ...own,
    transcript_path: null,
    active_session_id: run?.id ?? null,
    environment_profile: receipt(record.environmentProfile),
    bundle: receipt(record.bundle),
    context: receipt(record.context),
    interactions: storedPolicy(record),
    task_revision: 0,
    task_id: null,
    task_changed_at: null,
    created_at: record.createdAt,
    updated_at: record.createdAt,
    last_error: null,
  };
}

const storedPolicy = ({ interactions = null }: NewRecord): string | null =>
  interactions === null ? null : JSON.stringify(interactions);
