// Records of a workspace that goes or comes back. One without its workspace cannot be resumed; it can again when that directory, and
// no other, is registered under that id.
import { FailureError, type Workspace, type WorkspaceId } from '@roost/protocol';
import type { Sql } from '@roost/storage';
import type { Transaction } from '../store/store.ts';
import { detachedState, isBusy, providerFacts, touched } from './record-policy.ts';
import { changeRecord, listRecords, recordsOfWorkspace } from './record-table.ts';

/** The workspace was unregistered; no session of it lives. */
export function detachWorkspace(transaction: Transaction, workspaceId: WorkspaceId): void {
  for (const record of recordsOfWorkspace(transaction.sql, workspaceId)) {
    if (isBusy(record)) continue;
    const change = { state: 'unavailable', last_error: 'workspace-unavailable' } as const;
    changeRecord(transaction, record, touched(record, Date.now(), change));
  }
}

/** The workspace was registered. */
export function restoreWorkspace(transaction: Transaction, { id }: Workspace): void {
  for (const record of recordsOfWorkspace(transaction.sql, id)) {
    if (record.last_error !== 'workspace-unavailable') continue;
    const { canResume } = providerFacts(record.provider, record.transport);
    const change = { state: detachedState(record, canResume), last_error: null };
    changeRecord(transaction, record, touched(record, Date.now(), change));
  }
}

/** @throws FailureError: session-record-conflict when records remember another directory under that id. */
export function checkWorkspaceRoot(sql: Sql, workspaceId: WorkspaceId, root: string): void {
  const [other] = recordsOfWorkspace(sql, workspaceId).filter((record) => record.workspace_root !== root);
  if (other !== undefined) {
    throw new FailureError('session-record-conflict', { workspaceId, recordId: other.id });
  }
}

/** The id under which records remember a directory. */
export function rememberedWorkspaceId(sql: Sql, root: string): WorkspaceId | null {
  return listRecords(sql).find((record) => record.workspace_root === root)?.workspace_id ?? null;
}
