import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  FailureError,
  OFFERED_CAPABILITIES,
  Projection,
  RecordId,
  SessionName,
  TaskId,
  WorkspaceId,
  type Capability,
} from '@roost/protocol';
import { beginIncarnation } from '../node-identity.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { locateRecord, selectRecord } from './locate-record.ts';
import { newRecordRow } from './new-record.ts';
import { insertRecord, type RecordRow } from './record-table.ts';

const recordId = RecordId.parse('00000000000000b1');
const digest = `sha256:${'0'.repeat(64)}`;

describe('a record that a peer asks for', () => {
  let directory: string;
  let store: Store;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'roost-locate-'));
    store = new Store(openDatabase(join(directory, 'node.db')));
    beginIncarnation(store, 'test');
  });
  afterEach(() => {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const insert = (change: Partial<RecordRow>) => {
    const row = newRecordRow({
      id: recordId,
      name: SessionName.parse('one'),
      provider: 'claude',
      transport: 'pty',
      workspaceId: WorkspaceId.parse('w'),
      workspaceRoot: '/w',
      directory: '/w',
      arguments: [],
      providerSession: null,
      run: null,
      environmentProfile: null,
      bundle: null,
      context: null,
      createdAt: 1,
    });
    store.transact((transaction) => insertRecord(transaction, { ...row, ...change }));
  };
  const peer = (...missing: Capability[]) => ({
    projection: new Projection(OFFERED_CAPABILITIES.filter((one) => !missing.includes(one))),
  });
  const codeOf = (work: () => unknown) => {
    try {
      work();
      return 'done';
    } catch (error) {
      if (error instanceof FailureError) return error.failure.code;
      throw error;
    }
  };

  it.each([
    [
      'an environment',
      'child-environment-profile-v1',
      { environment_profile: '{"profileId":"e","revision":"1"}' },
    ],
    [
      'a bundle',
      'session-bundle-materialization-v1',
      { bundle: `{"id":"b","revision":"1","digest":"${digest}"}` },
    ],
    ['a context', 'history-context-pack-v1', { context: `{"id":"c","digest":"${digest}"}` }],
  ] as const)(
    'with %s is shown to whoever knows none, and changed by nobody who does not',
    (_, capability, change) => {
      insert(change);
      expect(selectRecord(store.sql, peer(capability), 'one').id).toBe(recordId);
      expect(codeOf(() => locateRecord(store.sql, peer(capability), recordId))).toBe(
        'unsupported-capability',
      );
      expect(locateRecord(store.sql, peer(), recordId).id).toBe(recordId);
    },
  );

  it('with a task is shown to whoever knows none, and changed, too', () => {
    insert({ task_revision: 1, task_id: TaskId.parse(`task-${'0'.repeat(24)}`), task_changed_at: 1 });
    const unaware = peer('session-task-correlation-v1');
    expect(selectRecord(store.sql, unaware, 'one').id).toBe(recordId);
    expect(locateRecord(store.sql, unaware, recordId).id).toBe(recordId);
  });

  it('of a provider that it does not know is not there to look at, and one answer whether it exists', () => {
    insert({ provider: 'grok' });
    const unaware = peer('provider-id.open-v1');
    expect(codeOf(() => selectRecord(store.sql, unaware, 'one'))).toBe('unknown-session-record');
    for (const id of [recordId, RecordId.parse('0'.repeat(16))]) {
      expect(codeOf(() => locateRecord(store.sql, unaware, id))).toBe('unsupported-capability');
    }
    expect(codeOf(() => locateRecord(store.sql, peer(), RecordId.parse('0'.repeat(16))))).toBe(
      'unknown-session-record',
    );
  });
});
