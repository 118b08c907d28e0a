/**
 * What the journal's events add up to: the workspaces, sessions and records of a node. The node keeps one for its snapshots, and a
 * client can keep one of its own: a snapshot, and every event after it. Applying an event twice changes nothing.
 */
import type { EventBody, NodeEvent } from './events.ts';
import type { RecordId, SessionId, WorkspaceId } from './ids.ts';
import type { NodeSnapshot } from './operations/node.ts';
import type { SessionRecord } from './session-record.ts';
import { LIVE_STATUSES, type Session } from './session.ts';
import type { SpawnProfileSummary } from './spawn-spec.ts';
import type { Workspace } from './workspace.ts';

/** Removals that are remembered, so that a reader of before can be told of them. */
const REMOVALS_MAX = 10_000;

/** Things by id, each with the sequence of its last change, and what is gone of them. */
class Collection<Id extends string, Value> {
  readonly values = new Map<Id, Value>();
  readonly #changed = new Map<Id, number>();
  readonly #removed = new Map<Id, number>();
  /** Removals up to this sequence are not all remembered. */
  #forgotten: number;

  constructor(since: number) {
    this.#forgotten = since;
  }

  get forgotten(): number {
    return this.#forgotten;
  }

  set(id: Id, value: Value, sequence: number): void {
    this.values.set(id, value);
    this.#changed.set(id, sequence);
    this.#removed.delete(id);
  }

  remove(id: Id, sequence: number): void {
    if (!this.values.delete(id)) return;
    this.#changed.delete(id);
    this.#removed.delete(id);
    this.#removed.set(id, sequence);
    if (this.#removed.size <= REMOVALS_MAX) return;
    for (const [oldest, at] of this.#removed) {
      this.#removed.delete(oldest);
      this.#forgotten = at;
      return;
    }
  }

  changedAfter(sequence: number): Value[] {
    return [...this.values]
      .filter(([id]) => (this.#changed.get(id) ?? 0) > sequence)
      .map(([, value]) => value);
  }

  removedAfter(sequence: number): Id[] {
    return [...this.#removed].filter(([, at]) => at > sequence).map(([id]) => id);
  }
}

/** The parts of a snapshot that events continue. */
export type StateSeed = Pick<NodeSnapshot, 'sequence' | 'workspaces' | 'sessions' | 'records'> & {
  readonly spawnProfiles: readonly SpawnProfileSummary[];
};

export type StateDelta = Pick<NodeSnapshot, 'workspaces' | 'sessions' | 'records' | 'removed'>;

export class StateView {
  readonly #workspaces: Collection<WorkspaceId, Workspace>;
  readonly #sessions: Collection<SessionId, Session>;
  readonly #records: Collection<RecordId, SessionRecord>;
  #spawnProfiles: readonly SpawnProfileSummary[];
  #sequence: number;

  constructor({ sequence, workspaces, sessions, records, spawnProfiles }: StateSeed) {
    this.#sequence = sequence;
    this.#workspaces = new Collection(sequence);
    this.#sessions = new Collection(sequence);
    this.#records = new Collection(sequence);
    this.#spawnProfiles = spawnProfiles;
    for (const one of workspaces) this.#workspaces.set(one.id, one, sequence);
    for (const one of sessions) this.#sessions.set(one.id, one, sequence);
    for (const one of records) this.#records.set(one.id, one, sequence);
  }

  /** Sequence of the last event that was applied. */
  get sequence(): number {
    return this.#sequence;
  }

  get workspaces(): ReadonlyMap<WorkspaceId, Workspace> {
    return this.#workspaces.values;
  }

  /** Oldest first. */
  get sessions(): ReadonlyMap<SessionId, Session> {
    return this.#sessions.values;
  }

  get records(): ReadonlyMap<RecordId, SessionRecord> {
    return this.#records.values;
  }

  get spawnProfiles(): readonly SpawnProfileSummary[] {
    return this.#spawnProfiles;
  }

  apply({ sequence, body }: Pick<NodeEvent, 'sequence' | 'body'>): void {
    if (sequence <= this.#sequence) return;
    this.#sequence = sequence;
    this.#change(body, sequence);
  }

  /** What is different since a sequence; null when that is further back than this view remembers, or lies ahead. */
  changedAfter(sequence: number): StateDelta | null {
    const all = [this.#workspaces, this.#sessions, this.#records];
    if (sequence > this.#sequence || all.some(({ forgotten }) => sequence < forgotten)) return null;
    return {
      workspaces: this.#workspaces.changedAfter(sequence),
      sessions: this.#sessions.changedAfter(sequence),
      records: this.#records.changedAfter(sequence),
      removed: {
        workspaces: this.#workspaces.removedAfter(sequence),
        sessions: this.#sessions.removedAfter(sequence),
        records: this.#records.removedAfter(sequence),
      },
    };
  }

  #change(body: EventBody, sequence: number): void {
    switch (body.kind) {
      case 'workspace-registered':
        this.#workspaces.set(body.workspace.id, body.workspace, sequence);
        return;
      case 'workspace-unregistered':
        this.#workspaces.remove(body.workspaceId, sequence);
        return;
      case 'session-changed':
        this.#changeSession(body.session, sequence);
        return;
      case 'session-removed':
        this.#removeSession(body.sessionId, sequence);
        return;
      case 'record-changed':
        this.#records.set(body.record.id, body.record, sequence);
        return;
      case 'record-removed':
        this.#records.remove(body.recordId, sequence);
        return;
      case 'spawn-profiles-changed':
        this.#spawnProfiles = body.profiles;
        return;
      case 'node-started':
      case 'node-stopped':
      case 'controller-changed':
        return;
    }
  }

  #changeSession(session: Session, sequence: number): void {
    const before = this.#sessions.values.get(session.id);
    this.#sessions.set(session.id, session, sequence);
    const change = Number(isLive(session)) - Number(before !== undefined && isLive(before));
    this.#countLive(session.workspaceId, change, sequence);
  }

  #removeSession(id: SessionId, sequence: number): void {
    const before = this.#sessions.values.get(id);
    if (before !== undefined && isLive(before)) this.#countLive(before.workspaceId, -1, sequence);
    this.#sessions.remove(id, sequence);
  }

  /** A workspace counts its live sessions; no event of its own tells. */
  #countLive(id: WorkspaceId, change: number, sequence: number): void {
    const workspace = this.#workspaces.values.get(id);
    if (workspace === undefined || change === 0) return;
    this.#workspaces.set(id, { ...workspace, liveSessions: workspace.liveSessions + change }, sequence);
  }
}

function isLive({ status }: Session): boolean {
  return LIVE_STATUSES.includes(status);
}
