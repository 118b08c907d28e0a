// What a record says, decided from its run. Pure: every change of a session passes here within its own transaction, so a record
// never claims a run that does not live, and never misses one that does.
import {
  LIVE_STATUSES,
  type RecordState,
  type SessionName,
  type SessionStatus,
  type Transport,
} from '@roost/protocol';
import { findProvider, runtimeCapabilities } from '@roost/providers';
import type { RecordChange, RecordRow } from './record-table.ts';

/** Which launches make a record: those whose own session will be known, or all. */
export type RecordPolicy = 'provider-identity-only' | 'always';

/** What a provider is good for with one transport, as far as records go. */
interface ProviderFacts {
  /** Its own session id is known, or will be told. */
  readonly canIdentify: boolean;
  readonly canResume: boolean;
}

/** `provider`: an id; unknown ones and plain commands can neither. */
export function providerFacts(provider: string, transport: Transport): ProviderFacts {
  const capabilities = runtimeCapabilities(findProvider(provider), transport);
  return {
    canIdentify: capabilities.includes('provider-session-identity'),
    canResume: capabilities.includes('semantic-resume'),
  };
}

/** A run of a record, as it is from now on. */
export interface Run {
  readonly id: RecordRow['active_session_id'] & string;
  readonly generation: number;
  readonly name: SessionName;
  readonly state: SessionStatus | 'removed';
  /** Its provider would not run the session on. */
  readonly resumeRefused: boolean;
}

/** null: the record stays as it is. */
export function planRecord(
  record: RecordRow,
  run: Run,
  { canIdentify, canResume, now }: ProviderFacts & { readonly now: number },
): RecordChange | null {
  // News of an earlier run changes nothing about a later one.
  if (run.generation < record.generation) return null;
  const isActive = record.active_session_id === run.id;
  if (!isLiveState(run.state)) {
    if (!isActive) return null;
    return touched(record, now, {
      active_session_id: null,
      state: detachedState(record, canResume),
      last_error: endError(run) ?? record.last_error,
    });
  }
  if (record.active_session_id !== null && !isActive) return null;
  // A conflict stays for as long as the run that has it.
  const conflicted = isActive && record.state === 'unavailable';
  const change: RecordChange = {
    active_session_id: run.id,
    state: conflicted ? record.state : attachedState(record, canIdentify),
    generation: run.generation,
    name: run.name,
    last_error: run.state === 'running' && !conflicted ? null : record.last_error,
  };
  return differs(record, change) ? touched(record, now, change) : null;
}

/** With a run. */
export function attachedState(
  { provider_session_id: own }: Pick<RecordRow, 'provider_session_id'>,
  canIdentify: boolean,
): RecordState {
  return canIdentify && own === null ? 'identity-pending' : 'live';
}

/** Without one. */
export function detachedState(
  { provider_session_id: own }: Pick<RecordRow, 'provider_session_id'>,
  canResume: boolean,
): RecordState {
  return canResume && own !== null ? 'dormant' : 'unavailable';
}

/** A run of it lives, or is said to. */
export function isBusy({ active_session_id: active, state }: RecordRow): boolean {
  return active !== null || state === 'live' || state === 'identity-pending';
}

/** The change, with a time of change that grows whatever the clock does. */
export function touched(record: RecordRow, now: number, change: RecordChange): RecordChange {
  return { ...change, updated_at: Math.max(now, record.updated_at + 1) };
}

function isLiveState(state: Run['state']): boolean {
  return state !== 'removed' && LIVE_STATUSES.includes(state);
}

function endError({ state, resumeRefused }: Run): RecordRow['last_error'] {
  if (resumeRefused) return 'provider-resume-rejected';
  switch (state) {
    case 'failed':
      return 'provider-runtime-failed';
    case 'lost':
      return 'keeper-died';
    default:
      return null;
  }
}

function differs(record: RecordRow, change: RecordChange): boolean {
  return (Object.keys(change) as (keyof RecordChange)[]).some((name) => record[name] !== change[name]);
}
