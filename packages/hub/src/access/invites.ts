// Invitations of nodes: a code that is good once. A node that did not hear the answer asks again with the same code, id and key, and is
// answered the same.
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { FailureError, InviteId, NodeId, NodeName, type HubInvite } from '@roost/protocol';
import type { NodeTable } from '../store/node-table.ts';
import type { Store } from '../store/store.ts';
import { hashOf, newId, newSecret, type RandomBytes } from './secrets.ts';

/** Milliseconds that a used invitation is told of. */
const USED_KEPT_MS = 86_400_000;
/** Open invitations at once. */
const INVITES_OPEN_MAX = 1_024;

const Row = z.object({
  id: InviteId,
  node_name: NodeName.nullable(),
  created_by: z.string(),
  created_at: z.int(),
  expires_at: z.int(),
  used_by: NodeId.nullable(),
  used_digest: z.string().nullable(),
});
type Row = z.infer<typeof Row>;
const COLUMNS = 'id, node_name, created_by, created_at, expires_at, used_by, used_digest';

export interface Enrolment {
  readonly code: string;
  readonly nodeId: NodeId;
  /** 64 hexadecimal digits. */
  readonly key: string;
}

export class Invites {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #random: RandomBytes;
  readonly #nodes: NodeTable;

  constructor(parts: { store: Store; now: () => number; random: RandomBytes; nodes: NodeTable }) {
    this.#store = parts.store;
    this.#now = parts.now;
    this.#random = parts.random;
    this.#nodes = parts.nodes;
  }

  /**
   * `nodeName` null: the node's own choice. `createdBy`: an actor of the audit log. The code is told here and never again.
   * @throws FailureError: name-taken by a node or by another open invitation; invalid-request when as many are open as may be.
   */
  create(wanted: { nodeName: NodeName | null; expiresInMs: number; createdBy: string }): {
    readonly invite: HubInvite;
    readonly code: string;
  } {
    return this.#store.transact((sql) => {
      const now = this.#now();
      sql.run(
        'DELETE FROM invites WHERE (used_by IS NULL AND expires_at <= ?) OR used_at <= ?',
        now,
        now - USED_KEPT_MS,
      );
      const open = this.#rows().filter(({ used_by }) => used_by === null);
      if (open.length >= INVITES_OPEN_MAX)
        throw new FailureError('invalid-request', {
          reason: 'too many invitations are open',
          limit: INVITES_OPEN_MAX,
        });
      const { nodeName } = wanted;
      if (
        nodeName !== null &&
        (this.#nodes.isNameTaken(nodeName) || open.some((one) => one.node_name === nodeName))
      )
        throw new FailureError('name-taken', { name: nodeName });
      const code = newSecret(this.#random);
      const row: Row = {
        id: InviteId.parse(newId(this.#random)),
        node_name: nodeName,
        created_by: wanted.createdBy,
        created_at: now,
        expires_at: now + wanted.expiresInMs,
        used_by: null,
        used_digest: null,
      };
      sql.run(
        `INSERT INTO invites (hash, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        hashOf(code),
        row.id,
        row.node_name,
        row.created_by,
        row.created_at,
        row.expires_at,
        row.used_by,
        row.used_digest,
      );
      return { invite: toInvite(row), code };
    });
  }

  /** Open ones, and those that were used in the last day; the newest first. */
  list(): HubInvite[] {
    return this.#rows().map(toInvite);
  }

  /** An open one. @throws FailureError: invite-invalid. */
  revoke(id: InviteId): void {
    this.#store.transact((sql) => {
      const { changes } = sql.run(
        'DELETE FROM invites WHERE id = ? AND used_by IS NULL AND expires_at > ?',
        id,
        this.#now(),
      );
      if (changes === 0) throw new FailureError('invite-invalid');
    });
  }

  /**
   * Uses an invitation up and enrols the node, both or nothing. `enrol` gets the name that the invitation gives the node, if it gives one,
   * and answers the one that it got; it is not asked when the same node asks again with the same code and key.
   * @throws FailureError: invite-invalid, and what `enrol` throws.
   */
  consume(
    { code, nodeId, key }: Enrolment,
    enrol: (invite: { readonly nodeName: NodeName | null }) => NodeName,
  ): NodeName {
    return this.#store.transact((sql) => {
      const found = sql.get(`SELECT ${COLUMNS} FROM invites WHERE hash = ?`, hashOf(code));
      const row = found === undefined ? null : Row.parse(found);
      const now = this.#now();
      if (row === null || row.expires_at <= now) throw new FailureError('invite-invalid');
      const digest = createHash('sha256').update(`${code}\n${nodeId}\n${key}`).digest('hex');
      if (row.used_digest !== null) {
        const node = row.used_digest === digest ? this.#nodes.find(nodeId) : null;
        // One that was removed since needs a new invitation.
        if (node === null) throw new FailureError('invite-invalid');
        return node.name;
      }
      sql.run(
        'UPDATE invites SET used_by = ?, used_at = ?, used_digest = ? WHERE id = ?',
        nodeId,
        now,
        digest,
        row.id,
      );
      return enrol({ nodeName: row.node_name });
    });
  }

  #rows(): Row[] {
    const now = this.#now();
    return this.#store.sql
      .all(
        `SELECT ${COLUMNS} FROM invites WHERE (used_by IS NULL AND expires_at > ?) OR used_at > ?
          ORDER BY created_at DESC, id`,
        now,
        now - USED_KEPT_MS,
      )
      .map((row) => Row.parse(row));
  }
}

function toInvite(row: Row): HubInvite {
  return {
    id: row.id,
    nodeName: row.node_name,
    createdBy: row.created_by,
    createdAt: new Date(row.created_at).toISOString(),
    expiresAt: new Date(row.expires_at).toISOString(),
    usedBy: row.used_by,
  };
}
