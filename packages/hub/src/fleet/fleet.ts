// The nodes of a hub: what it holds of them, and how something is asked of one.
import type {
  FailureCode,
  HubEvent,
  HubNode,
  HubRecord,
  HubSession,
  HubWorkspace,
  Incarnation,
  InteractionId,
  NodeId,
  NodeName,
  OperationName,
  RecordId,
  SessionId,
  Watcher,
  WorkspaceId,
} from '@roost/protocol';
import type { WebSocket } from 'ws';
import type { Principal } from '../access/principal.ts';

/** What is known of one node now; live while its link is online. Read only. */
export interface NodeView {
  readonly workspaces: ReadonlyMap<WorkspaceId, HubWorkspace>;
  /** In the order in which they came to be. */
  readonly sessions: ReadonlyMap<SessionId, HubSession>;
  readonly records: ReadonlyMap<RecordId, HubRecord>;
}

export interface NodeRequest {
  readonly operation: OperationName;
  readonly params: unknown;
  /** The start of the node that it is meant for; any when undefined. */
  readonly incarnation?: Incarnation | undefined;
  /** Milliseconds; the operation's own when undefined. */
  readonly timeoutMs?: number | undefined;
}

/** A place among the hub's events: `run` is one start of the hub. */
export interface FleetCursor {
  readonly run: string;
  readonly id: number;
}

export interface Fleet {
  /** This start of the hub; part of every cursor. */
  readonly run: string;
  /** By name. */
  nodes(): readonly HubNode[];
  /** By name or id, or a unique start of the id. @throws FailureError: unknown-node, ambiguous-node. */
  find(selector: string): HubNode;
  /** The same among all that are enrolled, also those that cannot be served now. @throws FailureError: as `find`. */
  findEnrolled(selector: string): NodeId;
  /** null: there is no such node. */
  nameOf(nodeId: NodeId): NodeName | null;
  view(nodeId: NodeId): NodeView;
  /**
   * Where a session, a record or something that is asked is; null when no node tells of it. `at`: asks this node alone; no other can then
   * stand for it by telling of the same id.
   */
  placeOf(
    id: SessionId | RecordId | InteractionId,
    at?: NodeId,
  ): { readonly nodeId: NodeId; readonly workspaceId: WorkspaceId } | null;
  /**
   * Asks something of a node in the hub's own name; access was judged before.
   * @throws FailureError: what the node answers; node-offline and stale-incarnation, when nothing was asked; outcome-unknown, when the link
   * was lost while it was under way; request-timed-out.
   */
  request(nodeId: NodeId, request: NodeRequest): Promise<unknown>;
  /** Whether it could be asked now. @throws FailureError: node-offline, stale-incarnation. */
  requireOnline(nodeId: NodeId, incarnation: Incarnation | undefined): void;
  /**
   * Takes over a WebSocket whose client wants to work with the node itself (`hub/relay.ts` of the protocol). `audit` is told of every
   * mutation before it is passed on, and gets told its outcome.
   */
  relay(nodeId: NodeId, webSocket: WebSocket, principal: Principal, audit: RelayAudit): void;
  /** Who has the terminal of a session open by such a WebSocket. */
  watchers(sessionId: SessionId): readonly Watcher[];
  /** Takes over a WebSocket of a node that calls home; `channel` answers `hub.connect`. `proved`: it is that node. */
  calledHome(nodeId: NodeId, channel: string | null, webSocket: WebSocket, proved: () => void): void;
  /** Calls home that came to nothing, since the hub began, by how they failed. */
  readonly failedCalls: ReadonlyMap<FailureCode, number>;
  /** Whether a call of that node with this channel was asked for. */
  awaitsCall(nodeId: NodeId, channel: string): boolean;
  /**
   * Answers the name that it got. One that is enrolled already is answered the same with the key that the hub holds, and then served if it
   * was not.
   * @throws FailureError: already-enrolled, with another key or when the hub cannot read the one that it holds; name-taken.
   */
  enrol(node: {
    readonly nodeId: NodeId;
    readonly name: NodeName;
    readonly isNameFixed: boolean;
    readonly key: string;
  }): NodeName;
  /** @throws FailureError: unknown-node, name-taken. */
  rename(nodeId: NodeId, name: NodeName): HubNode;
  /** Also one that cannot be served. @throws FailureError: unknown-node. */
  remove(nodeId: NodeId): void;
  /** Events after a cursor that are still held; null when some are not, or it is of another start: read lists anew. */
  eventsAfter(cursor: FleetCursor): readonly HubEvent[] | null;
  /** The cursor of now. */
  cursor(): FleetCursor;
  /** Told of every event once it is in the views. Answers how to no longer be told. */
  onEvent(listener: (event: HubEvent) => void): () => void;
}

export interface RelayAudit {
  asked(request: { readonly operation: OperationName; readonly params: unknown }): (outcome: string) => void;
}
