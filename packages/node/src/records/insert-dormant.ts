// A record of a session that exists at its provider, of which no run was ours.
import {
  RecordId,
  type ProviderSession,
  type SessionName,
  type SessionRecord,
  type Workspace,
} from '@roost/protocol';
import { randomHexId } from '../node-identity.ts';
import type { Transaction } from '../store/store.ts';
import { newRecordRow } from './new-record.ts';
import { insertRecord } from './record-table.ts';

interface DormantSession {
  readonly provider: string;
  readonly providerSession: Pick<ProviderSession, 'key' | 'id'>;
  readonly name: SessionName;
  readonly workspace: Pick<Workspace, 'id' | 'root'>;
  /** Where it is resumed: the provider finds its session there. */
  readonly directory: string;
}

/** @throws FailureError: records-exhausted, session-record-conflict. */
export function insertDormant(
  transaction: Transaction,
  { provider, providerSession, name, workspace, directory }: DormantSession,
): SessionRecord {
  const row = newRecordRow({
    id: RecordId.parse(randomHexId()),
    name,
    provider,
    transport: 'pty',
    workspaceId: workspace.id,
    workspaceRoot: workspace.root,
    directory,
    arguments: [],
    providerSession,
    run: null,
    environmentProfile: null,
    bundle: null,
    context: null,
    createdAt: Date.now(),
  });
  return insertRecord(transaction, row);
}
