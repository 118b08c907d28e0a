// The audit log: a line before a mutation is done, another when it is answered. A line of asking without its answer is one whose outcome
// nobody knows: the hub ended, or the disk was full, in between. Lines are never changed and never removed; the database refuses both.
import * as z from 'zod';
import { AuditEntry, FailureError, type NodeId } from '@roost/protocol';
import type { Principal } from '../access/principal.ts';
import type { Store } from '../store/store.ts';
import { auditTarget } from './audit-target.ts';

const Outcome = AuditEntry.shape.outcome;

export interface AuditedRequest {
  readonly requestId: string;
  readonly actor: AuditActor;
  /** Address of the peer; `local` for the socket. */
  readonly from: string;
  readonly operation: string;
  /** The node that it is done at or about. */
  readonly nodeId: NodeId | null;
  /** As they came: only ids and names of them are stored. */
  readonly params: unknown;
}

/** Somebody who authenticated, a node that proved itself, or nobody yet. */
export type AuditActor =
  Principal | { readonly kind: 'node'; readonly nodeId: NodeId } | { readonly kind: 'nobody' };

export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly nodeId?: NodeId | undefined;
  readonly operation?: string | undefined;
  readonly limit: number;
  /** Only lines before this one. */
  readonly before?: number | undefined;
}

const Row = z.object({
  sequence: z.int(),
  at: z.int().transform((time) => new Date(time).toISOString()),
  request_id: z.string(),
  phase: AuditEntry.shape.phase,
  actor: z.string(),
  credential: z.string().nullable(),
  peer: z.string(),
  operation: z.string(),
  node_id: AuditEntry.shape.nodeId,
  target: z.string().transform((text) => AuditEntry.shape.target.parse(JSON.parse(text))),
  outcome: AuditEntry.shape.outcome,
});

export class Audit {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #onLost: (cause: unknown) => void;

  /** `onLost`: an answer could not be stored; what was asked for is done all the same. */
  constructor(parts: { store: Store; now?: () => number; onLost: (cause: unknown) => void }) {
    this.#store = parts.store;
    this.#now = parts.now ?? Date.now;
    this.#onLost = parts.onLost;
  }

  /**
   * Ask this before anything is done, and do nothing when it throws. Answers how to tell the outcome, once: `done`, or the code of a
   * failure; one that this build does not know, of a newer node, is an `internal-error`.
   * @throws FailureError: storage-full, storage-failed.
   */
  asked(request: AuditedRequest): (outcome: string) => void {
    const target = JSON.stringify(auditTarget(request.params));
    this.#append(request, target, null);
    let isAnswered = false;
    return (outcome) => {
      if (isAnswered) return;
      isAnswered = true;
      try {
        this.#append(request, target, Outcome.safeParse(outcome).data ?? 'internal-error');
      } catch (cause) {
        if (!(cause instanceof FailureError)) throw cause;
        this.#onLost(cause);
      }
    };
  }

  /** Newest first. */
  list(filter: AuditFilter): { readonly entries: AuditEntry[]; readonly hasMore: boolean } {
    const conditions: readonly (readonly [string, string | number | undefined])[] = [
      ['actor = ?', filter.actor],
      ['node_id = ?', filter.nodeId],
      ['operation = ?', filter.operation],
      ['sequence < ?', filter.before],
    ];
    const asked = conditions.flatMap(([text, value]) => (value === undefined ? [] : [{ text, value }]));
    const where = asked.length === 0 ? '' : `WHERE ${asked.map(({ text }) => text).join(' AND ')}`;
    const rows = this.#store.sql.all(
      `SELECT sequence, at, request_id, phase, actor, credential, peer, operation, node_id, target, outcome
        FROM audit ${where} ORDER BY sequence DESC LIMIT ?`,
      ...asked.map(({ value }) => value),
      filter.limit + 1,
    );
    return { entries: rows.slice(0, filter.limit).map(toEntry), hasMore: rows.length > filter.limit };
  }

  #append(request: AuditedRequest, target: string, outcome: AuditEntry['outcome']): void {
    const { actor, credential } = describe(request.actor);
    this.#store.sql.run(
      `INSERT INTO audit (at, request_id, phase, actor, credential, peer, operation, node_id, target, outcome)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      this.#now(),
      request.requestId,
      outcome === null ? 'asked' : 'answered',
      actor,
      credential,
      request.from,
      request.operation,
      request.nodeId,
      target,
      outcome,
    );
  }
}

/** How the log names whoever asks. */
export function actorName(actor: AuditActor): string {
  switch (actor.kind) {
    case 'node':
      return `node ${actor.nodeId}`;
    case 'user':
      return actor.user ?? 'nobody';
    case 'local':
    case 'nobody':
      return actor.kind;
  }
}

function describe(actor: AuditActor): { readonly actor: string; readonly credential: string | null } {
  const came = 'credential' in actor && actor.credential.kind !== 'socket' ? actor.credential : null;
  return { actor: actorName(actor), credential: came === null ? null : `${came.kind} ${came.id}` };
}

function toEntry(row: unknown): AuditEntry {
  const { request_id: requestId, peer: from, node_id: nodeId, ...rest } = Row.parse(row);
  return { ...rest, requestId, from, nodeId };
}
