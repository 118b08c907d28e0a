// The nodes of a hub, and what was known of each last. Their keys are not here (see `access/node-keys.ts`).
import * as z from 'zod';
import { FailureError, HubNode, Incarnation, NodeId, NodeName } from '@roost/protocol';
import type { Sql } from '@roost/storage';
import type { Store } from './store.ts';

const NodeRow = z.object({
  id: NodeId,
  name: NodeName,
  way: HubNode.unwrap().shape.way,
  enrolled_at: z.int(),
});
const ViewRow = z.object({
  node_id: NodeId,
  incarnation: Incarnation,
  sequence: z.int().nonnegative(),
  seen_at: z.int(),
  version: z.string().nullable(),
  state: z.string(),
});

export interface EnrolledNode {
  readonly id: NodeId;
  readonly name: NodeName;
  readonly way: HubNode['way'];
  /** Milliseconds since the epoch. */
  readonly enrolledAt: number;
}

export interface StoredView {
  readonly nodeId: NodeId;
  readonly incarnation: Incarnation;
  /** The last event in it. */
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly seenAt: number;
  readonly version: string | null;
  /** JSON text; whoever reads it holds it against a schema. */
  readonly state: string;
}

export class NodeTable {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** By name. */
  list(): readonly EnrolledNode[] {
    return this.#store.sql.all('SELECT id, name, way, enrolled_at FROM nodes ORDER BY name').map(toNode);
  }

  find(id: NodeId): EnrolledNode | null {
    const row = this.#store.sql.get('SELECT id, name, way, enrolled_at FROM nodes WHERE id = ?', id);
    return row === undefined ? null : toNode(row);
  }

  isNameTaken(name: NodeName): boolean {
    return this.#store.sql.get('SELECT 1 FROM nodes WHERE name = ?', name) !== undefined;
  }

  /**
   * A node that is not enrolled yet; perhaps as a part of a larger change, which may still come to nothing. Neither call may throw.
   * @throws FailureError: name-taken.
   */
  insert(
    { id, name, way, enrolledAt }: EnrolledNode,
    { committed, undone }: { readonly committed?: () => void; readonly undone?: () => void } = {},
  ): void {
    this.#store.transact((sql) => {
      if (undone !== undefined) this.#store.afterRollback(undone);
      if (this.isNameTaken(name)) throw new FailureError('name-taken', { name });
      sql.run(
        'INSERT INTO nodes (id, name, way, enrolled_at) VALUES (?, ?, ?, ?)',
        id,
        name,
        way,
        enrolledAt,
      );
      if (committed !== undefined) this.#store.afterCommit(committed);
    });
  }

  /** @throws FailureError: unknown-node, name-taken. */
  rename(id: NodeId, name: NodeName): void {
    this.#store.transact((sql) => {
      const node = this.find(id);
      if (node === null) throw new FailureError('unknown-node', { nodeId: id });
      if (node.name === name) return;
      if (this.isNameTaken(name)) throw new FailureError('name-taken', { name });
      sql.run('UPDATE nodes SET name = ? WHERE id = ?', name, id);
    });
  }

  /** With its view. Does nothing when it is not enrolled. */
  remove(id: NodeId): void {
    this.#store.transact((sql) => sql.run('DELETE FROM nodes WHERE id = ?', id));
  }

  /** In place of those before, all or none: the disk is waited for once. Of a node that is enrolled no more, nothing is kept. */
  saveViews(views: readonly StoredView[]): void {
    this.#store.transact((sql) => {
      for (const view of views) saveView(sql, view);
    });
  }

  readViews(): readonly StoredView[] {
    return this.#store.sql
      .all('SELECT node_id, incarnation, sequence, seen_at, version, state FROM node_views ORDER BY node_id')
      .map((row) => {
        const { node_id: nodeId, seen_at: seenAt, ...rest } = ViewRow.parse(row);
        return { nodeId, seenAt, ...rest };
      });
  }
}

function saveView(sql: Sql, view: StoredView): void {
  sql.run(
    `INSERT OR REPLACE INTO node_views (node_id, incarnation, sequence, seen_at, version, state)
      SELECT id, ?, ?, ?, ?, ? FROM nodes WHERE id = ?`,
    view.incarnation,
    view.sequence,
    view.seenAt,
    view.version,
    view.state,
    view.nodeId,
  );
}

function toNode(row: unknown): EnrolledNode {
  const { enrolled_at: enrolledAt, ...rest } = NodeRow.parse(row);
  return { ...rest, enrolledAt };
}
