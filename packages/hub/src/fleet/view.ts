// What a hub knows of one node: a fold of its reduced events, which can be stored and taken up again.
import * as z from 'zod';
import {
  FailureError,
  HubRecord,
  HubSession,
  HubWorkspace,
  Incarnation,
  LIVE_STATUSES,
  type HubEventBody,
  type InteractionId,
  type InteractionSummary,
  type NodeSnapshot,
  type RecordId,
  type SessionAddress,
  type SessionId,
  type WorkspaceId,
} from '@roost/protocol';
import type { NodeView } from './fleet.ts';
import { redactRecord, redactSession, redactVersion, redactWorkspace } from './redact.ts';

/** Things of one kind of one node that a hub holds: more than a node has by its own bounds. What tells more is not believed. */
const HELD_MAX = 16_384;

export interface ViewCursor {
  readonly sequence: number;
  readonly incarnation: Incarnation;
}

export class View implements NodeView {
  readonly workspaces = new Map<WorkspaceId, HubWorkspace>();
  readonly sessions = new Map<SessionId, HubSession>();
  readonly records = new Map<RecordId, HubRecord>();
  /** Where that is asked which waits for an answer. */
  readonly asked = new Map<InteractionId, Pick<SessionAddress, 'sessionId' | 'workspaceId'>>();
  /** null: nothing is known yet. */
  cursor: ViewCursor | null = null;
  version: string | null = null;
  #live = 0;
  #blocked = 0;

  get counts(): { readonly live: number; readonly blocked: number } {
    return { live: this.#live, blocked: this.#blocked };
  }

  static of(snapshot: NodeSnapshot, version: string): View {
    const view = new View();
    view.cursor = { sequence: snapshot.sequence, incarnation: snapshot.incarnation };
    view.version = redactVersion(version);
    for (const workspace of snapshot.workspaces) view.#putWorkspace(redactWorkspace(workspace));
    for (const session of snapshot.sessions) view.#putSession(redactSession(session));
    for (const record of snapshot.records) view.#putRecord(redactRecord(record));
    return view;
  }

  /** null when it is of another form than this build keeps. */
  static restore(text: string): View | null {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return null;
    }
    const stored = StoredView.safeParse(value).data;
    if (stored === undefined) return null;
    const view = new View();
    view.cursor = stored.cursor;
    view.version = stored.version;
    for (const workspace of stored.workspaces) view.#putWorkspace(workspace);
    for (const session of stored.sessions) view.#putSession(session);
    for (const record of stored.records) view.#putRecord(record);
    return view;
  }

  store(): string {
    const stored: StoredView = {
      cursor: this.cursor,
      version: this.version,
      workspaces: [...this.workspaces.values()],
      sessions: [...this.sessions.values()],
      records: [...this.records.values()],
    };
    return JSON.stringify(stored);
  }

  apply(body: HubEventBody): void {
    switch (body.kind) {
      case 'node-started':
        this.version = body.version;
        return;
      case 'workspace-changed':
        this.#putWorkspace(body.workspace);
        return;
      case 'workspace-removed':
        this.workspaces.delete(body.workspaceId);
        return;
      case 'session-changed':
        this.#putSession(body.session);
        return;
      case 'session-removed':
        this.#count(this.sessions.get(body.sessionId), -1);
        this.sessions.delete(body.sessionId);
        this.#dropAsked(body.sessionId);
        return;
      case 'record-changed':
        this.#putRecord(body.record);
        return;
      case 'record-removed':
        this.records.delete(body.recordId);
        return;
      case 'interaction-changed':
        this.putInteraction(body.interaction);
        return;
      case 'node-stopped':
      case 'watchers-changed':
      case 'node-changed':
      case 'node-removed':
      case 'node-resynced':
        return;
    }
  }

  /** What waits for an answer at this moment: that is not stored. */
  putInteractions(pending: readonly Pick<InteractionSummary, 'id' | 'state' | 'session'>[]): void {
    this.asked.clear();
    for (const interaction of pending) this.putInteraction(interaction);
  }

  putInteraction({ id, state, session }: Pick<InteractionSummary, 'id' | 'state' | 'session'>): void {
    if (state !== 'pending') this.asked.delete(id);
    else {
      requireRoom(this.asked, id);
      this.asked.set(id, { sessionId: session.sessionId, workspaceId: session.workspaceId });
    }
  }

  #putWorkspace(workspace: HubWorkspace): void {
    requireRoom(this.workspaces, workspace.id);
    this.workspaces.set(workspace.id, workspace);
  }

  #putSession(session: HubSession): void {
    requireRoom(this.sessions, session.id);
    this.#count(this.sessions.get(session.id), -1);
    this.#count(session, 1);
    this.sessions.set(session.id, session);
    if (!LIVE_STATUSES.includes(session.status)) this.#dropAsked(session.id);
  }

  /** Nobody can answer a session that has ended, whether or not its node told what became of each thing. */
  #dropAsked(sessionId: SessionId): void {
    for (const [id, place] of this.asked) if (place.sessionId === sessionId) this.asked.delete(id);
  }

  #putRecord(record: HubRecord): void {
    requireRoom(this.records, record.id);
    this.records.set(record.id, record);
  }

  #count(session: HubSession | undefined, by: 1 | -1): void {
    if (session === undefined || !LIVE_STATUSES.includes(session.status)) return;
    this.#live += by;
    if (session.activity?.state === 'blocked') this.#blocked += by;
  }
}

/** @throws FailureError: backend-busy: the node tells of more than there can be. */
function requireRoom<Id>(held: ReadonlyMap<Id, unknown>, id: Id): void {
  if (held.size >= HELD_MAX && !held.has(id)) throw new FailureError('backend-busy', { heldMax: HELD_MAX });
}

const StoredView = z.object({
  cursor: z.object({ sequence: z.int().nonnegative(), incarnation: Incarnation }).nullable(),
  version: z.string().nullable(),
  workspaces: z.array(HubWorkspace),
  sessions: z.array(HubSession),
  records: z.array(HubRecord),
});
type StoredView = z.infer<typeof StoredView>;
