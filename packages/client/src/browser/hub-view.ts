/**
 * What a hub tells of its nodes, folded from its events: pure. Every event carries the state after it, so that one that is applied twice
 * changes nothing. A view is never changed: a fold gives a new one that shares what is the same.
 */
import type {
  HubEvent,
  HubNode,
  HubRecord,
  HubSession,
  HubWorkspace,
  InteractionId,
  InteractionSummary,
  NodeId,
  RecordId,
  SessionId,
  WorkspaceId,
} from '@roost/protocol';

export type SeenSession = HubSession & { readonly nodeId: NodeId };
export type SeenRecord = HubRecord & { readonly nodeId: NodeId };
export type SeenWorkspace = HubWorkspace & { readonly nodeId: NodeId };
export type SeenInteraction = InteractionSummary & { readonly nodeId: NodeId };

export interface HubView {
  readonly nodes: ReadonlyMap<NodeId, HubNode>;
  readonly sessions: ReadonlyMap<SessionId, SeenSession>;
  readonly records: ReadonlyMap<RecordId, SeenRecord>;
  /** By `workspaceKey`: ids of workspaces are those of their node. */
  readonly workspaces: ReadonlyMap<string, SeenWorkspace>;
  /** Those that wait and that events have told of; a list of a node has all. */
  readonly interactions: ReadonlyMap<InteractionId, SeenInteraction>;
}

/** What the lists of a hub hold, of all nodes or of one. */
export interface HubLists {
  readonly nodes: readonly HubNode[];
  readonly sessions: readonly SeenSession[];
  readonly records: readonly SeenRecord[];
  readonly workspaces: readonly SeenWorkspace[];
}

export function workspaceKey(nodeId: NodeId, workspaceId: WorkspaceId): string {
  return `${nodeId} ${workspaceId}`;
}

export function viewOf(lists: HubLists): HubView {
  return {
    nodes: new Map(lists.nodes.map((node) => [node.id, node])),
    sessions: new Map(lists.sessions.map((session) => [session.id, session])),
    records: new Map(lists.records.map((record) => [record.id, record])),
    workspaces: new Map(
      lists.workspaces.map((workspace) => [workspaceKey(workspace.nodeId, workspace.id), workspace]),
    ),
    interactions: new Map(),
  };
}

/** The view after these events, in their order; the same one when they change nothing. */
export function foldHubEvents(view: HubView, events: readonly HubEvent[]): HubView {
  const draft = new Draft(view);
  for (const event of events) apply(draft, event);
  return draft.finish();
}

/** The view with everything of one node as the lists have it. */
export function replaceNode(view: HubView, nodeId: NodeId, lists: HubLists): HubView {
  const draft = new Draft(view);
  dropThings(draft, nodeId);
  for (const node of lists.nodes) draft.of('nodes').set(node.id, node);
  for (const session of lists.sessions) draft.of('sessions').set(session.id, session);
  for (const record of lists.records) draft.of('records').set(record.id, record);
  for (const workspace of lists.workspaces)
    draft.of('workspaces').set(workspaceKey(nodeId, workspace.id), workspace);
  return draft.finish();
}

function apply(draft: Draft, { nodeId, body }: HubEvent): void {
  switch (body.kind) {
    case 'node-started':
    case 'node-stopped':
    case 'node-resynced':
      return;
    case 'watchers-changed':
      // Asked for by whoever shows that session.
      return;
    case 'node-changed':
      draft.of('nodes').set(nodeId, body.node);
      return;
    case 'node-removed':
      draft.of('nodes').delete(nodeId);
      dropThings(draft, nodeId);
      return;
    case 'session-changed':
      draft.of('sessions').set(body.session.id, { ...body.session, nodeId });
      return;
    case 'session-removed':
      draft.of('sessions').delete(body.sessionId);
      dropInteractions(draft, (one) => one.session.sessionId === body.sessionId);
      return;
    case 'record-changed':
      draft.of('records').set(body.record.id, { ...body.record, nodeId });
      return;
    case 'record-removed':
      draft.of('records').delete(body.recordId);
      return;
    case 'workspace-changed':
      draft.of('workspaces').set(workspaceKey(nodeId, body.workspace.id), { ...body.workspace, nodeId });
      return;
    case 'workspace-removed':
      draft.of('workspaces').delete(workspaceKey(nodeId, body.workspaceId));
      return;
    case 'interaction-changed':
      if (body.interaction.state === 'pending')
        draft.of('interactions').set(body.interaction.id, { ...body.interaction, nodeId });
      else draft.of('interactions').delete(body.interaction.id);
  }
}

function dropThings(draft: Draft, nodeId: NodeId): void {
  for (const kind of ['sessions', 'records', 'workspaces'] as const) {
    for (const [key, thing] of draft.read(kind)) if (thing.nodeId === nodeId) draft.drop(kind, key);
  }
  dropInteractions(draft, (one) => one.nodeId === nodeId);
}

function dropInteractions(draft: Draft, isGone: (one: SeenInteraction) => boolean): void {
  for (const [id, one] of draft.read('interactions')) if (isGone(one)) draft.of('interactions').delete(id);
}

type Kind = keyof HubView;
type Writable = {
  -readonly [Of in Kind]: HubView[Of] extends ReadonlyMap<infer Key, infer Value> ? Map<Key, Value> : never;
};

/** Copies each map of a view at its first change. */
class Draft {
  readonly #view: HubView;
  readonly #copies: Partial<Writable> = {};

  constructor(view: HubView) {
    this.#view = view;
  }

  read<Of extends Kind>(kind: Of): HubView[Of] {
    return (this.#copies[kind] as HubView[Of] | undefined) ?? this.#view[kind];
  }

  of<Of extends Kind>(kind: Of): Writable[Of] {
    const copy =
      this.#copies[kind] ?? (new Map<unknown, unknown>(this.#view[kind]) as unknown as Writable[Of]);
    this.#copies[kind] = copy;
    return copy;
  }

  /** `key` comes from `read` of that kind. */
  drop(kind: Kind, key: string): void {
    (this.of(kind) as Map<string, unknown>).delete(key);
  }

  finish(): HubView {
    return Object.keys(this.#copies).length === 0 ? this.#view : { ...this.#view, ...this.#copies };
  }
}
