import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FailureError, Incarnation, WorkspaceId } from '@roost/protocol';
import { randomHexId } from '../node-identity.ts';
import { openDatabase } from './open-database.ts';
import { Store, type Transaction } from './store.ts';

describe('the store', () => {
  let directory: string;
  let store: Store;

  const add = ({ sql, append }: Transaction, id: string) => {
    sql.run(
      'INSERT INTO workspaces (id, root, kind, created_at) VALUES (?, ?, ?, ?)',
      id,
      `/${id}/${'x'.repeat(3_000)}`,
      'plain',
      1,
    );
    append({ kind: 'workspace-unregistered', workspaceId: WorkspaceId.parse(id) });
  };
  const counts = () => [
    store.sql.all('SELECT id FROM workspaces').length,
    store.sql.all('SELECT sequence FROM events').length,
  ];

  const open = () => {
    store = new Store(openDatabase(join(directory, 'node.db')));
    const incarnation = Incarnation.parse(randomHexId());
    store.transact((transaction) => store.begin(transaction, incarnation));
  };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'roost-store-'));
    open();
  });
  afterEach(() => {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('refuses what finds no room with storage-full, does none of it, and goes on when there is room', () => {
    const heard: number[] = [];
    store.onEvent(({ sequence }) => heard.push(sequence));
    store.transact((transaction) => add(transaction, 'before'));
    store.sql.exec('PRAGMA max_page_count = 1');
    let code: string | null = null;
    try {
      store.transact((transaction) => {
        for (let number = 0; number < 50; number += 1) add(transaction, `w${number}`);
      });
    } catch (error) {
      code = error instanceof FailureError ? error.failure.code : String(error);
    }
    expect(code).toBe('storage-full');
    expect(counts()).toEqual([1, 1]);
    store.sql.exec('PRAGMA max_page_count = 100000');
    store.transact((transaction) => add(transaction, 'after'));
    expect(counts()).toEqual([2, 2]);
    expect(heard).toEqual([1, 2]);
  });

  it('refuses a transaction within a transaction', () => {
    expect(() => store.transact(() => store.transact(() => 1))).toThrow('open already');
    expect(store.transact(() => 2)).toBe(2);
  });

  it('leaves one whole file when it is closed', () => {
    store.transact((transaction) => add(transaction, 'marked'));
    store.close();
    expect(readFileSync(join(directory, 'node.db')).includes('/marked/')).toBe(true);
    open();
    expect(counts()).toEqual([1, 1]);
  });
});
