/**
 * A process with a node's journal and its connections, and nothing else of a node: appends events at a steady pace, faster than
 * operations could. Speaks to its parent in messages: `serving`, then for each `AppendOrder` an `Appended`.
 */
import { fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Admission } from '../packages/node/src/control/admission.ts';
import type { Handlers } from '../packages/node/src/control/handlers.ts';
import { ConnectionServer } from '../packages/node/src/connection/server.ts';
import { Journal } from '../packages/node/src/events/journal.ts';
import { eventOperations } from '../packages/node/src/events/operations.ts';
import { nodeToken } from '../packages/node/src/home/token.ts';
import { openLog } from '@roost/storage';
import { beginIncarnation } from '../packages/node/src/node-identity.ts';
import { openDatabase } from '../packages/node/src/store/open-database.ts';
import { Store, type Transaction } from '../packages/node/src/store/store.ts';
import { answerOf } from './child-answer.ts';
import { SESSION } from './sample-session.ts';

interface AppendOrder {
  readonly events: number;
  /** Events of one transaction. */
  readonly batch: number;
  readonly eventsPerSecond: number;
}

interface Appended {
  /** Sequence of the last event. */
  readonly last: number;
}

export interface EventNode {
  readonly pid: number;
  readonly socketPath: string;
  readonly tokenPath: string;
  append(order: AppendOrder): Promise<Appended>;
  close(): Promise<void>;
}

/** Connections beside those that are measured. */
const SPARE_CONNECTIONS = 4;

export async function startEventNode(program: string, home: string, connections: number): Promise<EventNode> {
  const child = fork(program, ['--event-node', home, String(connections)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await answerOf<'serving'>(child);
  if (child.pid === undefined) throw new Error('the node of the events did not start');
  return {
    pid: child.pid,
    socketPath: socketOf(home),
    tokenPath: tokenOf(home),
    append: (order) => {
      child.send(order);
      return answerOf<Appended>(child);
    },
    close: async () => {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

export async function runEventNode(home: string, connections: number): Promise<void> {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const log = openLog(join(home, 'node.log'), undefined);
  const store = new Store(openDatabase(join(home, 'node.db')));
  const identity = beginIncarnation(store, '0');
  const journal = new Journal(store);
  const admission = new Admission({
    // The only operations that are asked for.
    handlers: eventOperations(journal) as Handlers,
    lease: { admit: () => undefined },
    log,
    checkResults: false,
  });
  const server = new ConnectionServer(
    {
      path: socketOf(home),
      token: nodeToken(tokenOf(home)),
      listen: null,
      connectionsMax: connections + SPARE_CONNECTIONS,
    },
    {
      admission,
      log,
      events: journal,
      node: { id: identity.nodeId, incarnation: identity.incarnation, version: '0' },
      controller: () => null,
      released: () => undefined,
    },
  );
  await server.start();
  process.on('message', (message) => {
    void append(store, message as AppendOrder).then(() => {
      process.send?.({ last: journal.range().last } satisfies Appended);
    });
  });
  process.once('disconnect', () => process.exit(0));
  process.send?.('serving');
}

async function append(store: Store, order: AppendOrder): Promise<void> {
  const start = performance.now();
  for (let done = 0; done < order.events; done += order.batch) {
    const due = start + (done / order.eventsPerSecond) * 1000;
    const early = due - performance.now();
    // Behind the pace, others still get their turn.
    await (early > 1 ? sleep(early) : new Promise((resolve) => setImmediate(resolve)));
    store.transact((transaction) => appendBatch(transaction, Math.min(order.batch, order.events - done)));
  }
}

function appendBatch({ append: add }: Transaction, events: number): void {
  // Its title carries the time.
  const title = String(performance.timeOrigin + performance.now());
  for (let index = 0; index < events; index += 1)
    add({ kind: 'session-changed', session: { ...SESSION, title } });
}

function socketOf(home: string): string {
  return join(home, 'node.sock');
}

function tokenOf(home: string): string {
  return join(home, 'node.token');
}
