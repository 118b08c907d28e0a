// Sessions and records of all nodes in the order in which they are listed, kept up by the events of the fleet.
import type { HubEvent, HubRecord, HubSession, NodeId } from '@roost/protocol';
import type { Fleet } from '../fleet/fleet.ts';
import { viewOrNull } from './find-node.ts';
import { SortedRows } from './sorted-rows.ts';

export interface SessionRow {
  /** Of session and node: one node cannot take the place of another's session by telling of the same id. */
  readonly id: string;
  readonly nodeId: NodeId;
  readonly session: HubSession;
  /** 0: it waits for a person. */
  readonly rank: number;
  readonly createdAt: string;
}

export interface RecordRow {
  readonly id: string;
  readonly nodeId: NodeId;
  readonly record: HubRecord;
  readonly updatedAt: string;
}

/** What decides the place of a row: a page goes on after it, although the row itself may be gone. */
export type SessionKey = Pick<SessionRow, 'rank' | 'createdAt' | 'id'>;
export type RecordKey = Pick<RecordRow, 'updatedAt' | 'id'>;

export class FleetIndex {
  readonly #fleet: Fleet;
  readonly #sessions = new SortedRows<SessionKey, SessionRow>(bySession);
  readonly #records = new SortedRows<RecordKey, RecordRow>(byRecord);
  readonly #ofNode = new Map<NodeId, { sessions: Set<string>; records: Set<string> }>();
  readonly #endListening: () => void;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    this.#endListening = fleet.onEvent((event) => this.#apply(event));
    for (const { id } of fleet.nodes()) this.#read(id);
  }

  close(): void {
    this.#endListening();
  }

  get sessions(): SortedRows<SessionKey, SessionRow> {
    return this.#sessions;
  }

  get records(): SortedRows<RecordKey, RecordRow> {
    return this.#records;
  }

  #apply({ nodeId, body }: HubEvent): void {
    switch (body.kind) {
      case 'session-changed':
        this.#putSession(nodeId, body.session);
        return;
      case 'session-removed':
        this.#removeSession(nodeId, body.sessionId);
        return;
      case 'record-changed':
        this.#putRecord(nodeId, body.record);
        return;
      case 'record-removed':
        this.#removeRecord(nodeId, body.recordId);
        return;
      case 'node-removed':
        this.#forget(nodeId);
        return;
      case 'node-resynced':
        this.#forget(nodeId);
        this.#read(nodeId);
        return;
      case 'node-started':
      case 'node-stopped':
      case 'node-changed':
      case 'workspace-changed':
      case 'workspace-removed':
      case 'interaction-changed':
      case 'watchers-changed':
        return;
    }
  }

  #read(nodeId: NodeId): void {
    const view = viewOrNull(this.#fleet, nodeId);
    for (const session of view?.sessions.values() ?? []) this.#putSession(nodeId, session);
    for (const record of view?.records.values() ?? []) this.#putRecord(nodeId, record);
  }

  #putSession(nodeId: NodeId, session: HubSession): void {
    const { createdAt } = session;
    const id = rowId(nodeId, session.id);
    this.#idsOf(nodeId).sessions.add(id);
    this.#sessions.put(id, { id, nodeId, session, rank: waitsForPerson(session) ? 0 : 1, createdAt });
  }

  #putRecord(nodeId: NodeId, record: HubRecord): void {
    const { updatedAt } = record;
    const id = rowId(nodeId, record.id);
    this.#idsOf(nodeId).records.add(id);
    this.#records.put(id, { id, nodeId, record, updatedAt });
  }

  #removeSession(nodeId: NodeId, sessionId: string): void {
    const id = rowId(nodeId, sessionId);
    this.#idsOf(nodeId).sessions.delete(id);
    this.#sessions.remove(id);
  }

  #removeRecord(nodeId: NodeId, recordId: string): void {
    const id = rowId(nodeId, recordId);
    this.#idsOf(nodeId).records.delete(id);
    this.#records.remove(id);
  }

  #forget(nodeId: NodeId): void {
    const { sessions, records } = this.#idsOf(nodeId);
    for (const id of sessions) this.#sessions.remove(id);
    for (const id of records) this.#records.remove(id);
    this.#ofNode.delete(nodeId);
  }

  #idsOf(nodeId: NodeId): { sessions: Set<string>; records: Set<string> } {
    const known = this.#ofNode.get(nodeId);
    if (known !== undefined) return known;
    const ids = { sessions: new Set<string>(), records: new Set<string>() };
    this.#ofNode.set(nodeId, ids);
    return ids;
  }
}

const rowId = (nodeId: NodeId, id: string) => `${id} ${nodeId}`;

/** A live session that asks something, or whose turn ended and nobody has looked yet. */
function waitsForPerson({ endedAt, activity }: HubSession): boolean {
  return endedAt === null && (activity?.state === 'blocked' || activity?.state === 'done');
}

/** Those that wait for a person first, then the newest. */
function bySession(one: SessionKey, other: SessionKey): number {
  return one.rank - other.rank || -compare(one.createdAt, other.createdAt) || compare(one.id, other.id);
}

/** Those that changed last first. */
function byRecord(one: RecordKey, other: RecordKey): number {
  return -compare(one.updatedAt, other.updatedAt) || compare(one.id, other.id);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
