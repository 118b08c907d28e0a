// For tests: a fleet whose nodes are made of data. What is asked of them is answered by a function, and everything else is as a fleet does
// it.
import type { WebSocket } from 'ws';
import {
  type FailureCode,
  FailureError,
  type HubNode,
  HubRecord,
  HubSession,
  type HubWorkspace,
  Incarnation,
  type NodeId,
  NodeName,
  type RecordId,
  type SessionId,
  type Watcher,
  WorkspaceId,
  type HubEvent,
  type HubEventBody,
  type InteractionId,
} from '@roost/protocol';
import type { Principal } from '../access/principal.ts';
import type { RunningFleet } from '../hub.ts';
import type { Fleet, FleetCursor, NodeRequest, NodeView, RelayAudit } from './fleet.ts';
import { pickNode } from './pick-node.ts';

interface Place {
  readonly nodeId: NodeId;
  readonly workspaceId: WorkspaceId;
}

interface MemoryView extends NodeView {
  readonly workspaces: Map<WorkspaceId, HubWorkspace>;
  readonly sessions: Map<SessionId, HubSession>;
  readonly records: Map<RecordId, HubRecord>;
}

const AT = '2026-01-01T00:00:00.000Z';

export class MemoryFleet implements RunningFleet {
  readonly run = 'f'.repeat(16);
  /** How nodes answer. */
  answer: (nodeId: NodeId, request: NodeRequest) => unknown = () => ({});
  readonly failedCalls = new Map<FailureCode, number>();
  /** Told of every line that was handed over. */
  readonly relays: { nodeId: NodeId; webSocket: WebSocket; principal: Principal; audit: RelayAudit }[] = [];
  readonly calls: { nodeId: NodeId; channel: string | null; webSocket: WebSocket }[] = [];
  readonly asked: { nodeId: NodeId; request: NodeRequest }[] = [];
  readonly #nodes = new Map<NodeId, HubNode>();
  readonly #keys = new Map<NodeId, string>();
  readonly #views = new Map<NodeId, MemoryView>();
  readonly #interactions = new Map<InteractionId, Place>();
  readonly #events: HubEvent[] = [];
  readonly #eventsMax: number;
  readonly #listeners = new Set<(event: HubEvent) => void>();
  #lastId = 0;

  /** `eventsMax`: events that are held. */
  constructor(eventsMax = 1_000) {
    this.#eventsMax = eventsMax;
  }

  nodes(): readonly HubNode[] {
    return [...this.#nodes.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  find(selector: string): HubNode {
    const found = pickNode(this.nodes(), selector);
    if (found === null) throw new FailureError('unknown-node', { node: selector });
    return found;
  }

  findEnrolled(selector: string): NodeId {
    return this.find(selector).id;
  }

  nameOf(nodeId: NodeId): NodeName | null {
    return this.#nodes.get(nodeId)?.name ?? null;
  }

  view(nodeId: NodeId): MemoryView {
    if (!this.#nodes.has(nodeId)) throw new FailureError('unknown-node', { nodeId });
    const view = this.#views.get(nodeId) ?? {
      workspaces: new Map(),
      sessions: new Map(),
      records: new Map(),
    };
    this.#views.set(nodeId, view);
    return view;
  }

  placeOf(id: SessionId | RecordId | InteractionId): Place | null {
    const interaction = this.#interactions.get(id as InteractionId);
    if (interaction !== undefined) return interaction;
    for (const [nodeId, { sessions, records }] of this.#views) {
      const found = sessions.get(id as SessionId) ?? records.get(id as RecordId);
      if (found !== undefined) return { nodeId, workspaceId: found.workspaceId };
    }
    return null;
  }

  // Refusals are to reject, as those of a node do.
  // eslint-disable-next-line @typescript-eslint/require-await
  async request(nodeId: NodeId, request: NodeRequest): Promise<unknown> {
    this.requireOnline(nodeId, request.incarnation);
    this.asked.push({ nodeId, request });
    return this.answer(nodeId, request);
  }

  requireOnline(nodeId: NodeId, incarnation: Incarnation | undefined): void {
    const node = this.find(nodeId);
    if (node.link.state !== 'online') throw new FailureError('node-offline', { nodeId });
    if (incarnation !== undefined && incarnation !== node.incarnation)
      throw new FailureError('stale-incarnation', { nodeId });
  }

  relay(nodeId: NodeId, webSocket: WebSocket, principal: Principal, audit: RelayAudit): void {
    this.relays.push({ nodeId, webSocket, principal, audit });
  }

  watchers(): readonly Watcher[] {
    return [];
  }

  awaitsCall(): boolean {
    return false;
  }

  calledHome(nodeId: NodeId, channel: string | null, webSocket: WebSocket): void {
    this.calls.push({ nodeId, channel, webSocket });
  }

  enrol({ nodeId, name, isNameFixed, key }: Parameters<Fleet['enrol']>[0]): NodeName {
    const known = this.#keys.get(nodeId);
    if (known !== undefined && known !== key) throw new FailureError('invite-invalid');
    const isTaken = (one: string) => this.nodes().some((node) => node.name === one && node.id !== nodeId);
    if (isNameFixed && isTaken(name)) throw new FailureError('name-taken', { name });
    let free: string = name;
    for (let count = 2; isTaken(free); count += 1) free = `${name}-${count}`;
    this.#keys.set(nodeId, key);
    this.put({ id: nodeId, name: NodeName.parse(free), way: 'calls-home' });
    return NodeName.parse(free);
  }

  rename(nodeId: NodeId, name: NodeName): HubNode {
    const node = this.find(nodeId);
    if (this.nodes().some((one) => one.name === name && one.id !== nodeId))
      throw new FailureError('name-taken', { name });
    return this.put({ ...node, name });
  }

  remove(nodeId: NodeId): void {
    this.#nodes.delete(nodeId);
    this.#views.delete(nodeId);
    this.tell(nodeId, { kind: 'node-removed' });
  }

  eventsAfter({ run, id }: FleetCursor): readonly HubEvent[] | null {
    const first = this.#events[0]?.id ?? this.#lastId + 1;
    if (run !== this.run || id > this.#lastId || id < first - 1) return null;
    return this.#events.filter((event) => event.id > id);
  }

  cursor(): FleetCursor {
    return { run: this.run, id: this.#lastId };
  }

  onEvent(listener: (event: HubEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  close(): void {
    for (const { webSocket } of [...this.relays, ...this.calls]) webSocket.terminate();
  }

  /** Adds or changes a node; online unless told otherwise. */
  put(facts: Partial<HubNode> & Pick<HubNode, 'id' | 'name'>): HubNode {
    const node: HubNode = {
      way: 'dialled',
      link: { state: 'online', since: AT, reason: null, attempts: 0 },
      incarnation: Incarnation.parse('1'.repeat(16)),
      version: '0.0.0-test',
      sequence: 0,
      seenAt: AT,
      sessions: { live: 0, blocked: 0 },
      enrolledAt: AT,
      ...facts,
    };
    this.#nodes.set(node.id, node);
    this.tell(node.id, { kind: 'node-changed', node });
    return node;
  }

  putWorkspace(nodeId: NodeId, id: string): HubWorkspace {
    const workspace: HubWorkspace = {
      id: WorkspaceId.parse(id),
      kind: 'plain',
      createdAt: AT,
      liveSessions: 0,
      git: null,
    };
    this.view(nodeId).workspaces.set(workspace.id, workspace);
    this.tell(nodeId, { kind: 'workspace-changed', workspace });
    return workspace;
  }

  putSession(
    nodeId: NodeId,
    facts: { id: string; workspaceId: string } & Partial<Omit<HubSession, 'id' | 'workspaceId'>>,
  ): HubSession {
    const session = HubSession.parse({
      recordId: null,
      generation: 1,
      name: `s-${facts.id.slice(0, 6)}`,
      provider: 'shell',
      transport: 'pty',
      status: facts.endedAt === undefined || facts.endedAt === null ? 'running' : 'exited',
      protocol: null,
      size: { columns: 80, rows: 24 },
      activity: null,
      createdAt: AT,
      endedAt: null,
      exitCode: null,
      exitSignal: null,
      endReason: null,
      attachedClients: 0,
      ...facts,
    });
    this.view(nodeId).sessions.set(session.id, session);
    this.tell(nodeId, { kind: 'session-changed', session });
    return session;
  }

  putRecord(
    nodeId: NodeId,
    facts: { id: string; workspaceId: string } & Partial<Omit<HubRecord, 'id' | 'workspaceId'>>,
  ): HubRecord {
    const record = HubRecord.parse({
      name: `r-${facts.id.slice(0, 6)}`,
      provider: 'shell',
      transport: 'pty',
      state: 'dormant',
      generation: 1,
      activeSession: null,
      createdAt: AT,
      updatedAt: AT,
      lastError: null,
      hasProviderSession: false,
      ...facts,
    });
    this.view(nodeId).records.set(record.id, record);
    this.tell(nodeId, { kind: 'record-changed', record });
    return record;
  }

  putInteraction(id: InteractionId, place: Place): void {
    this.#interactions.set(id, place);
  }

  tell(nodeId: NodeId, body: HubEventBody): HubEvent {
    this.#lastId += 1;
    const event: HubEvent = { id: this.#lastId, run: this.run, nodeId, sequence: null, at: AT, body };
    this.#events.push(event);
    if (this.#events.length > this.#eventsMax) this.#events.shift();
    for (const listener of [...this.#listeners]) listener(event);
    return event;
  }
}
