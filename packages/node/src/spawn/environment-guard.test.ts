import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  EnvironmentReceipt,
  FailureError,
  Incarnation,
  SessionId,
  SessionName,
  WorkspaceId,
  type SessionStatus,
} from '@roost/protocol';
import { newSessionRow } from '../sessions/new-session-row.ts';
import { insertSession, type SessionRow } from '../sessions/session-table.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { checkEnvironment, storedEnvironment } from './environment-guard.ts';

const one = EnvironmentReceipt.parse({ profileId: 'one', revision: 'r1' });
const oneRevised = EnvironmentReceipt.parse({ profileId: 'one', revision: 'r2' });
const other = EnvironmentReceipt.parse({ profileId: 'other', revision: 'r1' });

describe('one environment a workspace', () => {
  let directory: string;
  let store: Store;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'roost-guard-'));
    store = new Store(openDatabase(join(directory, 'node.db')));
    store.transact((transaction) => store.begin(transaction, Incarnation.parse('0'.repeat(16))));
  });
  afterEach(() => {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const inhabit = (receipt: EnvironmentReceipt | null, status: SessionStatus) => {
    const row: SessionRow = {
      ...newSessionRow({
        id: SessionId.parse('0'.repeat(16)),
        recordId: null,
        generation: 1,
        name: SessionName.parse('there'),
        provider: 'claude',
        transport: 'pty',
        workspaceId: WorkspaceId.parse('here'),
        directory: '/here',
        command: ['claude'],
        keeperId: null as never,
        size: { columns: 80, rows: 24 },
        createdAt: 1,
        process: null,
      }),
      status,
      environment_profile: storedEnvironment(receipt),
    };
    store.transact((transaction) => insertSession(transaction, row));
  };
  const outcome = (workspace: string, receipt: EnvironmentReceipt | null) => {
    try {
      checkEnvironment(store.sql, WorkspaceId.parse(workspace), receipt);
      return 'free';
    } catch (error) {
      if (error instanceof FailureError) return error.failure.code;
      throw error;
    }
  };

  it.each<[string, EnvironmentReceipt | null, EnvironmentReceipt | null]>([
    ['free', null, null],
    ['free', one, { revision: one.revision, profileId: one.profileId }],
    ['workspace-busy', one, other],
    ['workspace-busy', one, oneRevised],
    ['workspace-busy', one, null],
    ['workspace-busy', null, one],
  ])('is %s where %j lives and %j comes', (expected, living, coming) => {
    inhabit(living, 'running');
    expect(outcome('here', coming)).toBe(expected);
  });

  it.each<[string, SessionStatus]>([
    ['workspace-busy', 'starting'],
    ['workspace-busy', 'running'],
    ['workspace-busy', 'stopping'],
    ['free', 'exited'],
    ['free', 'failed'],
    ['free', 'lost'],
  ])('is %s for another profile beside a session that is %s', (expected, status) => {
    inhabit(one, status);
    expect(outcome('here', other)).toBe(expected);
  });

  it('leaves other workspaces alone', () => {
    inhabit(one, 'running');
    expect(outcome('elsewhere', other)).toBe('free');
  });
});
