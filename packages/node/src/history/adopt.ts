// Makes a record of a session that was begun outside of Roost. Everything is asked of the session as it is now, then once more of the
// rows in the transaction: of two that adopt at once, both get the one record.
import { FailureError, SessionRecord, type SessionName, type SessionRecord as Record } from '@roost/protocol';
import type { Caller } from '../control/handlers.ts';
import { mayUse } from '../control/visible.ts';
import { insertDormant } from '../records/insert-dormant.ts';
import { providerFacts } from '../records/record-policy.ts';
import { recordView, recordWithProviderSession, type RecordRow } from '../records/record-table.ts';
import { makeSessionName } from '../sessions/naming.ts';
import type { Sql } from '@roost/storage';
import type { Store } from '../store/store.ts';
import { deepestRootAround, locate } from '../workspaces/locate.ts';
import { listWorkspaces } from '../workspaces/workspaces.ts';
import type { HistoryCatalog } from './catalog.ts';
import { ownSession } from './entry.ts';
import type { FoundSession } from './found-session.ts';

/**
 * @throws FailureError: unknown-history-session, history-unreadable, session-record-not-resumable, invalid-directory when the one
 * that it ran in is gone, workspace-registration-required, session-record-conflict, records-exhausted.
 */
export async function adoptSession(
  { store, catalog }: { readonly store: Store; readonly catalog: HistoryCatalog },
  caller: Caller,
  session: FoundSession,
  name: SessionName | null,
): Promise<Record> {
  const { id: historyId, provider } = session;
  const known = recordOf(store.sql, session);
  if (known !== null) return seen(caller, recordView(known));
  if (!providerFacts(provider, 'pty').canResume) {
    throw new FailureError('session-record-not-resumable', { provider });
  }
  const { directory: told } = await catalog.keep(session).summary();
  const location = told === null ? null : await locate(told);
  if (location === null) throw new FailureError('invalid-directory', { historyId });
  const { directory } = location;
  return store.transact((transaction) => {
    const { sql } = transaction;
    const meanwhile = recordOf(sql, session);
    if (meanwhile !== null) return recordView(meanwhile);
    const workspaces = listWorkspaces(sql);
    const root = deepestRootAround(
      directory,
      workspaces.map((one) => one.root),
    );
    const workspace = workspaces.find((one) => one.root === root);
    if (workspace === undefined) throw new FailureError('workspace-registration-required', { historyId });
    return insertDormant(transaction, {
      provider,
      providerSession: ownSession(session),
      name: name ?? makeSessionName(provider, (one) => isTaken(sql, one)),
      workspace,
      directory,
    });
  });
}

/** @throws FailureError: session-record-conflict when the id belongs to a session of another provider. */
function recordOf(sql: Sql, session: FoundSession): RecordRow | null {
  const known = recordWithProviderSession(sql, ownSession(session));
  if (known !== null && known.provider !== session.provider) {
    throw new FailureError('session-record-conflict', { recordId: known.id });
  }
  return known;
}

/** A task is shown or not, and in nobody's way. */
function seen(caller: Caller, record: Record): Record {
  mayUse(caller, SessionRecord, { ...record, taskBinding: null });
  return record;
}

function isTaken(sql: Sql, name: string): boolean {
  return sql.get('SELECT 1 FROM records WHERE name = ? LIMIT 1', name) !== undefined;
}
