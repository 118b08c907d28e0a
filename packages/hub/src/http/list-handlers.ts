// Lists over all nodes, from the views: nothing is asked of any node.
import * as z from 'zod';
import {
  FailureError,
  HUB_PAGE_MAX,
  type HubSession,
  type NodeId,
  type NodeName,
  type PlacedRecord,
  type PlacedSession,
  type PlacedWorkspace,
  type SessionId,
} from '@roost/protocol';
import { seesNode, workspacesOf, type Principal } from '../access/principal.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { findNode } from './find-node.ts';
import type { FleetIndex, RecordKey, RecordRow, SessionKey, SessionRow } from './fleet-index.ts';
import type { HubHandlers } from './handlers.ts';
import { decodeCursor, encodeCursor, pageOf } from './pages.ts';

const SessionPlace = z.tuple([z.int().min(0).max(1), z.string(), z.string()]);
const RecordPlace = z.tuple([z.string(), z.string()]);
const WorkspacePlace = z.tuple([z.string(), z.string()]);

type ListHandlers = Pick<
  HubHandlers,
  | 'sessions.list'
  | 'sessions.show'
  | 'sessions.watchers'
  | 'records.list'
  | 'records.show'
  | 'workspaces.list'
  | 'attention.list'
>;

export function listHandlers(fleet: Fleet, index: FleetIndex): ListHandlers {
  /** @throws FailureError: unknown-session, also where it is none of theirs. */
  const shownSession = (sessionId: SessionId, view: Viewer): PlacedSession => {
    const place = fleet.placeOf(sessionId);
    const session = place === null ? undefined : fleet.view(place.nodeId).sessions.get(sessionId);
    if (place === null || session === undefined || !view.sees(place.nodeId, session.workspaceId))
      throw new FailureError('unknown-session', { sessionId });
    return view.session({ nodeId: place.nodeId, session });
  };

  return {
    'sessions.list': (
      { node, workspaceId, status, state, provider, search, limit, cursor },
      { principal },
    ) => {
      const view = new Viewer(fleet, principal, node);
      const wanted = search?.toLowerCase();
      const matches = ({ nodeId, session }: SessionRow) =>
        (status === 'all' || (status === 'live') === (session.endedAt === null)) &&
        (workspaceId === undefined || session.workspaceId === workspaceId) &&
        (state === undefined || session.activity?.state === state) &&
        (provider === undefined || session.provider === provider) &&
        view.sees(nodeId, session.workspaceId) &&
        (wanted === undefined || session.id.startsWith(wanted) || has(wanted, session, view.nameOf(nodeId)));
      const { sessions } = index;
      const from = cursor === undefined ? 0 : after(sessions, sessionKey(cursor));
      const page = pageOf({ rows: sessions.rows, matches, from, limit, cursorOf: sessionCursor });
      const { total, next } = page;
      return { sessions: page.rows.map((row) => view.session(row)), total, next };
    },
    'sessions.show': ({ sessionId }, { principal }) => shownSession(sessionId, new Viewer(fleet, principal)),
    'sessions.watchers': ({ sessionId }, { principal }) => {
      shownSession(sessionId, new Viewer(fleet, principal));
      return { watchers: [...fleet.watchers(sessionId)] };
    },
    'records.list': ({ node, workspaceId, state, search, limit, cursor }, { principal }) => {
      const view = new Viewer(fleet, principal, node);
      const wanted = search?.toLowerCase();
      const matches = ({ nodeId, record }: RecordRow) =>
        (workspaceId === undefined || record.workspaceId === workspaceId) &&
        (state === undefined || record.state === state) &&
        view.sees(nodeId, record.workspaceId) &&
        (wanted === undefined || record.id.startsWith(wanted) || has(wanted, record, view.nameOf(nodeId)));
      const { records } = index;
      const from = cursor === undefined ? 0 : after(records, recordKey(cursor));
      const page = pageOf({ rows: records.rows, matches, from, limit, cursorOf: recordCursor });
      const { total, next } = page;
      return { records: page.rows.map((row) => view.record(row)), total, next };
    },
    'records.show': ({ recordId }, { principal }) => {
      const place = fleet.placeOf(recordId);
      const view = new Viewer(fleet, principal);
      const record = place === null ? undefined : fleet.view(place.nodeId).records.get(recordId);
      if (place === null || record === undefined || !view.sees(place.nodeId, record.workspaceId))
        throw new FailureError('unknown-session-record', { recordId });
      return view.record({ nodeId: place.nodeId, record });
    },
    'workspaces.list': ({ node, limit, cursor }, { principal }) => {
      const view = new Viewer(fleet, principal, node);
      const rows = fleet.nodes().flatMap(({ id: nodeId, name: nodeName }): PlacedWorkspace[] => {
        if (!view.seesNode(nodeId)) return [];
        const workspaces = [...fleet.view(nodeId).workspaces.values()].sort((one, other) =>
          compare(one.id, other.id),
        );
        return workspaces.map((workspace) => ({ ...workspace, nodeId, nodeName }));
      });
      const [name, id] = cursor === undefined ? ['', ''] : decodeCursor(cursor, WorkspacePlace);
      const first = rows.findIndex((row) => (compare(row.nodeName, name) || compare(row.id, id)) > 0);
      const page = pageOf({
        rows,
        matches: (row) => view.sees(row.nodeId, row.id),
        from: first === -1 ? rows.length : first,
        limit,
        cursorOf: (row) => encodeCursor([row.nodeName, row.id]),
      });
      return { workspaces: [...page.rows], total: page.total, next: page.next };
    },
    'attention.list': ({ node }, { principal }) => {
      const view = new Viewer(fleet, principal, node);
      // They are the first of all sessions.
      const { rows } = index.sessions;
      const end = rows.findIndex(({ rank }) => rank > 0);
      const waiting = rows
        .slice(0, end === -1 ? rows.length : end)
        .filter(({ nodeId, session }) => view.sees(nodeId, session.workspaceId))
        .sort((one, other) => compare(sinceOf(one), sinceOf(other)) || compare(one.id, other.id));
      return {
        sessions: waiting.slice(0, HUB_PAGE_MAX).map((row) => view.session(row)),
        truncated: waiting.length > HUB_PAGE_MAX,
      };
    },
  };
}

/** What one principal sees of the nodes, perhaps of one node only; for one list. */
class Viewer {
  readonly #fleet: Pick<Fleet, 'nameOf'>;
  readonly #reach = new Map<NodeId, ReadonlySet<string> | 'all' | null>();
  readonly #principal: Pick<Principal, 'scope'>;
  readonly #only: NodeId | null;

  /** @throws FailureError: what `findNode` refuses. */
  constructor(fleet: Fleet, principal: Principal | null, node?: string) {
    // Lists are of those that are known.
    this.#principal = principal ?? { scope: [] };
    this.#only = node === undefined ? null : findNode(fleet, node, this.#principal).id;
    this.#fleet = fleet;
  }

  seesNode(nodeId: NodeId): boolean {
    return this.#reachOf(nodeId) !== null;
  }

  sees(nodeId: NodeId, workspaceId: string): boolean {
    const reach = this.#reachOf(nodeId);
    return reach === 'all' || (reach?.has(workspaceId) ?? false);
  }

  nameOf(nodeId: NodeId): NodeName {
    const name = this.#fleet.nameOf(nodeId);
    if (name === null) throw new FailureError('unknown-node', { nodeId });
    return name;
  }

  session({ nodeId, session }: Pick<SessionRow, 'nodeId' | 'session'>): PlacedSession {
    return { ...session, nodeId, nodeName: this.nameOf(nodeId) };
  }

  record({ nodeId, record }: Pick<RecordRow, 'nodeId' | 'record'>): PlacedRecord {
    return { ...record, nodeId, nodeName: this.nameOf(nodeId) };
  }

  #reachOf(nodeId: NodeId): ReadonlySet<string> | 'all' | null {
    const known = this.#reach.get(nodeId);
    if (known !== undefined) return known;
    const isMeant = this.#only === null || this.#only === nodeId;
    const isSeen = isMeant && this.#fleet.nameOf(nodeId) !== null && seesNode(this.#principal, nodeId);
    const reach = isSeen ? (workspacesOf(this.#principal, nodeId) ?? 'all') : null;
    this.#reach.set(nodeId, reach);
    return reach;
  }
}

function has(
  wanted: string,
  { name, workspaceId }: Pick<HubSession, 'name' | 'workspaceId'>,
  node: string,
): boolean {
  return name.toLowerCase().includes(wanted) || workspaceId.includes(wanted) || node.includes(wanted);
}

const sinceOf = ({ session }: SessionRow) => session.activity?.since ?? session.createdAt;

const sessionCursor = ({ rank, createdAt, id }: SessionRow) => encodeCursor([rank, createdAt, id]);
function sessionKey(cursor: string): SessionKey {
  const [rank, createdAt, id] = decodeCursor(cursor, SessionPlace);
  return { rank, createdAt, id };
}

const recordCursor = ({ updatedAt, id }: RecordRow) => encodeCursor([updatedAt, id]);
function recordKey(cursor: string): RecordKey {
  const [updatedAt, id] = decodeCursor(cursor, RecordPlace);
  return { updatedAt, id };
}

/** Position of the first row behind a key. */
function after<Key extends { readonly id: string }>(
  rows: { readonly rows: readonly { readonly id: string }[]; firstFrom(key: Key): number },
  key: Key,
): number {
  const at = rows.firstFrom(key);
  return rows.rows[at]?.id === key.id ? at + 1 : at;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
