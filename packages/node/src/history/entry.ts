// A session of a provider as peers see it: without the provider's own id, its file, or the directory that it ran in.
import { HistoryEntry, type HistoryId } from '@roost/protocol';
import { eventName } from '@roost/providers';
import type { Caller } from '../control/handlers.ts';
import { visible } from '../control/visible.ts';
import { recordWithProviderSession } from '../records/record-table.ts';
import type { Sql } from '@roost/storage';
import type { FoundSession } from './found-session.ts';
import { groupOf, placeIn, type Belonging } from './views.ts';

export function entryOf(sql: Sql, session: FoundSession, belonging: Belonging): HistoryEntry {
  const { id, provider, summary, modifiedAt } = session;
  const record = recordWithProviderSession(sql, ownSession(session));
  return {
    id,
    provider,
    title: summary.title,
    model: eventName(summary.model),
    startedAt: summary.startedAt === null ? null : new Date(summary.startedAt).toISOString(),
    modifiedAt: new Date(modifiedAt).toISOString(),
    workspaceId: belonging.workspace?.id ?? null,
    place: placeIn(belonging),
    group: groupOf(belonging),
    // An id that two providers gave is not the same session.
    recordId: record?.provider === provider ? record.id : null,
  };
}

/** In the words of a record. */
export function ownSession({ summary }: Pick<FoundSession, 'summary'>) {
  return { key: 'session-id', id: summary.sessionId, transcriptPath: null } as const;
}

/** What the caller may know of. @throws FailureError: unknown-history-session, unsupported-capability. */
export function usable<Value>(
  caller: Pick<Caller, 'projection'>,
  seen: { readonly value: Value; readonly view: HistoryEntry } | null,
  historyId: HistoryId,
): Value {
  return visible(caller, HistoryEntry, seen, { code: 'unknown-history-session', details: { historyId } });
}
