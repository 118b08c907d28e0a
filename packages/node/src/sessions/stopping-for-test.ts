// For tests only: a database with sessions that run, around a keeper whose answers to a stop the test gives.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { KeeperId, SessionId, SessionName, WorkspaceId, type SessionAddress } from '@roost/protocol';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import { beginIncarnation, randomHexId } from '../node-identity.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { SessionLifecycle } from './lifecycle.ts';
import { newSessionRow } from './new-session-row.ts';
import type { StopScene } from './stop.ts';
import { PipeOutput } from './pipe-output.ts';
import { changeSession, findSession, insertSession, type SessionRow } from './session-table.ts';

export class StopBench {
  readonly directory = mkdtempSync(join(tmpdir(), 'roost-stop-'));
  readonly store = new Store(openDatabase(join(this.directory, 'node.db')));
  readonly lifecycle: SessionLifecycle;
  readonly keepers: { get: () => KeeperLink; child: () => null };
  /** What the keeper does when it is asked to stop the session. */
  stop: (sessionId: string) => Promise<unknown> = () => Promise.reject(new Error('no stop is expected'));

  constructor() {
    const { store, directory } = this;
    const log = pino({ level: 'silent' });
    beginIncarnation(store, 'test');
    const output = new PipeOutput(directory, log);
    this.lifecycle = new SessionLifecycle({ store, output, sessionsDirectory: directory, log });
    const link = {
      isConnected: true,
      children: new Map(),
      learn: (state: unknown) => state,
      call: (_: string, { sessionId }: { sessionId: string }) => this.stop(sessionId),
    } as unknown as KeeperLink;
    this.keepers = { get: () => link, child: () => null };
  }

  runningSession(name: string): SessionAddress {
    const id = SessionId.parse(randomHexId());
    const workspaceId = WorkspaceId.parse('w');
    const row = newSessionRow({
      id,
      recordId: null,
      generation: 1,
      name: SessionName.parse(name),
      provider: 'claude',
      transport: 'pty',
      workspaceId,
      directory: this.directory,
      command: ['claude'],
      keeperId: KeeperId.parse(randomHexId()),
      size: null,
      createdAt: 1,
      process: { pid: 4_000_000, start: '1' },
    });
    this.store.transact((transaction) => insertSession(transaction, row));
    return { workspaceId, sessionId: id, generation: 1 };
  }

  get scene(): StopScene {
    const { store, keepers, lifecycle } = this;
    return { store, keepers, lifecycle };
  }

  row(id: SessionId): SessionRow {
    const row = findSession(this.store.sql, id);
    if (row === null) throw new Error('the session has a row');
    return row;
  }

  change(id: SessionId, change: Parameters<typeof changeSession>[2]): void {
    this.store.transact((transaction) => changeSession(transaction, this.row(id), change));
  }

  close(): void {
    this.lifecycle.close();
    this.store.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
