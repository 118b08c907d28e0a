// Who this node is: an id made once for the state directory, and an incarnation made at each start. The row also tells
// whether the last stop was a clean one; anything but a clean stop leaves it at "no".
import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { Incarnation, NodeId } from '@roost/protocol';
import type { Store } from './store/store.ts';

export interface NodeIdentity {
  readonly nodeId: NodeId;
  readonly incarnation: Incarnation;
  readonly startedAt: Date;
}

const Row = z.object({ node_id: NodeId });

export function beginIncarnation(store: Store, version: string): NodeIdentity {
  const startedAt = new Date();
  const incarnation = Incarnation.parse(randomHexId());
  return store.transact((transaction) => {
    const { sql, append } = transaction;
    store.begin(transaction, incarnation);
    sql.run(
      'INSERT OR IGNORE INTO node (only, node_id, created_at, clean_stop) VALUES (1, ?, ?, 0)',
      randomHexId(),
      startedAt.getTime(),
    );
    sql.run('UPDATE node SET clean_stop = 0');
    append({ kind: 'node-started', incarnation, version });
    return { nodeId: Row.parse(sql.get('SELECT node_id FROM node')).node_id, incarnation, startedAt };
  });
}

export function endIncarnation(store: Store, identity: NodeIdentity): void {
  store.transact(({ sql, append }) => {
    sql.run('UPDATE node SET clean_stop = 1');
    append({ kind: 'node-stopped', incarnation: identity.incarnation });
  });
}

/** 16 hexadecimal digits, random. */
export function randomHexId(): string {
  return randomBytes(8).toString('hex');
}
