// What becomes of records when a session tells which of its provider's own sessions it is. Pure. One of the provider's sessions has
// one record: a run that turns out to be an old session joins the old record, if everything that would change what it can do is
// equal; otherwise it is flagged, never merged.
import type { RecordError } from '@roost/protocol';
import type { RecordRow } from './record-table.ts';

type IdentityPlan =
  | { readonly kind: 'unchanged' }
  /** The run's record takes the identity. */
  | { readonly kind: 'take' }
  /** The run stays where it is, in a record that cannot be resumed. */
  | { readonly kind: 'conflict'; readonly error: RecordError }
  /** The old record takes the run over. The run's own record goes, when it never had an identity, or rests. */
  | { readonly kind: 'fold'; readonly dropsCurrent: boolean }
  /** The provider began another session in the same run: a new record takes the run over, the old one rests. */
  | { readonly kind: 'replace' }
  /** The same without room for a record: the run goes on without one. */
  | { readonly kind: 'refuse'; readonly error: RecordError };

export interface IdentityFacts {
  /** The provider can tell its sessions, with this transport. */
  readonly canIdentify: boolean;
  /** The node holds fewer records than it may. */
  readonly hasRoom: boolean;
}

export interface ReportedIdentity {
  readonly key: string;
  readonly id: string;
  readonly transcriptPath: string | null;
}

/** What must be equal for two records to be one. */
export type RecordScope = Pick<
  RecordRow,
  'provider' | 'transport' | 'workspace_id' | 'workspace_root' | 'environment_profile' | 'bundle' | 'context'
>;
const SCOPE = [
  'provider',
  'transport',
  'workspace_id',
  'workspace_root',
  'environment_profile',
  'bundle',
  'context',
] as const satisfies readonly (keyof RecordScope)[];

type Known = RecordScope &
  Pick<RecordRow, 'id' | 'provider_session_key' | 'provider_session_id' | 'transcript_path' | 'state'>;
type Holder = RecordScope & Pick<RecordRow, 'id' | 'active_session_id'>;

/**
 * @param current The run's record; null for a run that has none.
 * @param scope What the run is: its record's scope, or its own.
 * @param existing Whoever has that session already.
 */
export function planIdentity(
  current: Known | null,
  scope: RecordScope,
  existing: Holder | null,
  identity: ReportedIdentity,
  { canIdentify, hasRoom }: IdentityFacts,
): IdentityPlan {
  if (!canIdentify) return { kind: 'unchanged' };
  if (existing !== null && existing.id !== current?.id) {
    if (SCOPE.some((name) => existing[name] !== scope[name])) {
      return { kind: 'conflict', error: 'provider-session-scope-conflict' };
    }
    if (existing.active_session_id !== null) {
      return { kind: 'conflict', error: 'provider-session-live-conflict' };
    }
    return { kind: 'fold', dropsCurrent: current !== null && current.provider_session_id === null };
  }
  const hasOther =
    current !== null &&
    current.provider_session_id !== null &&
    (current.provider_session_id !== identity.id || current.provider_session_key !== identity.key);
  if (current === null || hasOther) {
    return hasRoom ? { kind: 'replace' } : { kind: 'refuse', error: 'managed-session-capacity' };
  }
  const isKnown =
    current.provider_session_id !== null &&
    current.state === 'live' &&
    (identity.transcriptPath === null || identity.transcriptPath === current.transcript_path);
  return { kind: isKnown ? 'unchanged' : 'take' };
}
