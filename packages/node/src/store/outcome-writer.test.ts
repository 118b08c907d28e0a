import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConnectionId, FailureError, Incarnation, WorkspaceId, type EventBody } from '@roost/protocol';
import { ControllerLease } from '../control/controller-lease.ts';
import { randomHexId } from '../node-identity.ts';
import { waitFor } from '../node-for-test.ts';
import { openDatabase } from './open-database.ts';
import { OutcomeWriter } from './outcome-writer.ts';
import { Store, type Transaction } from './store.ts';

describe('the writer of outcomes', () => {
  let directory: string;
  let store: Store;
  let outcomes: OutcomeWriter;
  let stored: string[];
  let diskIsFull: boolean;

  const nameOf = (body: EventBody) =>
    body.kind === 'controller-changed'
      ? `${body.reason} ${body.controller?.clientName ?? '-'}`
      : body.kind === 'workspace-unregistered'
        ? body.workspaceId
        : body.kind;
  /** Tells of a workspace, when the disk takes it. */
  const fact =
    (id: string) =>
    ({ append }: Transaction) => {
      if (diskIsFull) throw new FailureError('storage-full');
      append({ kind: 'workspace-unregistered', workspaceId: WorkspaceId.parse(id) });
    };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'roost-outcomes-'));
    store = new Store(openDatabase(join(directory, 'node.db')));
    store.transact((transaction) => store.begin(transaction, Incarnation.parse(randomHexId())));
    outcomes = new OutcomeWriter(store, pino({ level: 'silent' }));
    stored = [];
    diskIsFull = false;
    store.onEvent(({ body }) => stored.push(nameOf(body)));
  });
  afterEach(() => {
    outcomes.close();
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('tries again in order until the disk takes them', async () => {
    diskIsFull = true;
    outcomes.write(fact('one'));
    outcomes.write(fact('two'));
    expect(stored).toEqual([]);
    diskIsFull = false;
    await waitFor(() => stored.length === 2, 'the second try');
    expect(stored).toEqual(['one', 'two']);
  });

  it.each([
    ['a refusal', new FailureError('session-record-conflict')],
    ['a mistake', new TypeError('no such column')],
  ])('leaves out what fails for %s, and stores what comes after it', async (_, error) => {
    let tries = 0;
    diskIsFull = true;
    outcomes.write(fact('before'));
    outcomes.write(() => {
      tries += 1;
      throw error;
    });
    outcomes.write(fact('after'));
    diskIsFull = false;
    await waitFor(() => stored.length === 2, 'those around it');
    expect(stored).toEqual(['before', 'after']);
    expect(tries).toBe(1);
  });

  it('stores each once when a listener of the first writes another', () => {
    const stop = store.onEvent(({ body }) => {
      if (nameOf(body) === 'one') outcomes.write(fact('two'));
    });
    outcomes.write(fact('one'));
    stop();
    expect(stored).toEqual(['one', 'two']);
  });

  it('never tells of a new controller before the end of the one that was', () => {
    let now = 0;
    const lease = new ControllerLease({
      monotonicNow: () => now,
      publishHolder: (change) => outcomes.transactAfter(({ append }) => append(change)),
      publishEnd: (change) =>
        outcomes.write((transaction) => {
          fact('end')(transaction);
          transaction.append(change);
        }),
      schedule: () => () => undefined,
    });
    const holder = (id: number, clientName: string) => ({ connectionId: ConnectionId.parse(id), clientName });
    lease.acquire(holder(1, 'one'), 1_000, false);
    diskIsFull = true;
    now = 1_000;
    expect(() => lease.acquire(holder(2, 'two'), 0, false)).toThrow('storage-full');
    expect(lease.state).toBeNull();
    diskIsFull = false;
    lease.acquire(holder(2, 'two'), 0, false);
    expect(stored).toEqual(['acquired one', 'end', 'expired -', 'acquired two']);
  });
});
