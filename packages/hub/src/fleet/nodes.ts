// The fleet as it is: enrolled nodes, their links and views, and what is asked of them.
import {
  FailureError,
  OPERATIONS,
  type FailureCode,
  type Hello,
  type HubEvent,
  type HubEventBody,
  type HubId,
  type HubNode,
  type Incarnation,
  type InteractionId,
  type NodeId,
  type NodeName,
  type RecordId,
  type SessionId,
  type Watcher,
} from '@roost/protocol';
import { NodeName as NodeNameSchema } from '@roost/protocol';
import { watchLiveness } from '@roost/protocol/node';
import type { WebSocket } from 'ws';
import { nodeKey, type NodeKeys } from '../access/node-keys.ts';
import type { Principal } from '../access/principal.ts';
import type { EnrolledNode, NodeTable } from '../store/node-table.ts';
import { EventRing } from './event-ring.ts';
import { FailedCalls } from './failed-calls.ts';
import { faultOf } from './fault.ts';
import type { Fleet, FleetCursor, NodeRequest, NodeView, RelayAudit } from './fleet.ts';
import { HeldKeys } from './held-keys.ts';
import { NodeLink, requireConnection } from './link.ts';
import { NodeBeside } from './node-beside.ts';
import { CallingWay, DialledWay, type DialTarget, type NodeWay } from './node-way.ts';
import { PartedBudget } from './parted-budget.ts';
import { pickNode } from './pick-node.ts';
import { requestTimeoutMs } from './request-timeout.ts';
import { Relay } from './relay.ts';
import { View } from './view.ts';
import { ViewSaver } from './view-saver.ts';

/** Milliseconds over which the first attempts at all nodes are spread, for each of them. */
const SPREAD_MS = 5;
/** Milliseconds between two tellings of what is counted of one node. */
const COUNTS_MS = 500;

export interface NodesOptions {
  readonly hubId: HubId;
  readonly run: string;
  readonly table: NodeTable;
  readonly keys: NodeKeys;
  readonly version: string;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: (message: string, facts: Readonly<Record<string, unknown>>) => void;
}

interface KeptView {
  readonly view: View | null;
  /** Milliseconds since the epoch. */
  readonly seenAt: number;
}

interface Enrolled {
  node: EnrolledNode;
  readonly way: NodeWay;
  readonly link: NodeLink;
  /** Changed since it was saved. */
  isDirty: boolean;
  countsTimer: NodeJS.Timeout | null;
  /** As they were told last; null: they are to be told, whatever they are. */
  toldCounts: HubNode['sessions'] | null;
  readonly relays: Set<Relay>;
}

export class Nodes implements Fleet {
  readonly #options: NodesOptions;
  readonly #ring: EventRing;
  readonly #nodes = new Map<NodeId, Enrolled>();
  readonly #parted = new PartedBudget();
  readonly #failedCalls: FailedCalls;
  readonly #beside: NodeBeside;
  readonly #held: HeldKeys;
  readonly #saver: ViewSaver;

  constructor(options: NodesOptions) {
    const { random, log } = options;
    this.#options = options;
    this.#ring = new EventRing(options.run);
    this.#failedCalls = new FailedCalls(options.now, log);
    this.#held = new HeldKeys(options);
    this.#beside = new NodeBeside({
      client: this.#client,
      random,
      log,
      found: (nodeId, target) => this.#enrolBeside(nodeId, target),
    });
    this.#saver = new ViewSaver({ ...options, nodes: () => [...this.#nodes.values()] });
  }

  get run(): string {
    return this.#ring.run;
  }

  /** `local`: the node beside the hub, which is dialled and enrolled by itself. */
  begin(local: DialTarget | null): void {
    const views = new Map(this.#options.table.readViews().map((view) => [view.nodeId, view]));
    const rows = this.#options.table.list();
    for (const node of rows) {
      const stored = views.get(node.id);
      const kept = stored === undefined ? null : { view: View.restore(stored.state), seenAt: stored.seenAt };
      if (node.way === 'calls-home') this.#addCalling(node, kept);
      else if (local !== null) this.#add(node, new DialledWay(local), kept);
    }
    const isKnown = rows.some(({ way }) => way === 'dialled');
    if (local !== null && !isKnown) this.#beside.learn(local);
    let place = 0;
    for (const { link } of this.#nodes.values()) link.begin(place++ * SPREAD_MS);
  }

  close(): void {
    this.#beside.close();
    for (const one of this.#nodes.values()) this.#end(one);
    this.#saver.close();
  }

  nodes(): readonly HubNode[] {
    return [...this.#nodes.values()].map((one) => this.#show(one)).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(selector: string): HubNode {
    const served = [...this.#nodes.values()].map(({ node }) => node);
    const found = pickNode(served, selector);
    if (found === null) throw new FailureError('unknown-node', { node: selector });
    return this.#show(this.#require(found.id));
  }

  findEnrolled(selector: string): NodeId {
    const found = pickNode(this.#options.table.list(), selector);
    if (found === null) throw new FailureError('unknown-node', { node: selector });
    return found.id;
  }

  nameOf(nodeId: NodeId): NodeName | null {
    return this.#nodes.get(nodeId)?.node.name ?? null;
  }

  view(nodeId: NodeId): NodeView {
    return this.#require(nodeId).link.view;
  }

  placeOf(id: SessionId | RecordId | InteractionId, at?: NodeId): ReturnType<Fleet['placeOf']> {
    const one = at === undefined ? undefined : this.#nodes.get(at);
    const places = at === undefined ? this.#nodes : one === undefined ? [] : ([[at, one]] as const);
    for (const [nodeId, { link }] of places) {
      const { sessions, records, asked } = link.view;
      const found = sessions.get(id as SessionId) ?? records.get(id as RecordId);
      const workspaceId = found?.workspaceId ?? asked.get(id as InteractionId)?.workspaceId;
      if (workspaceId !== undefined) return { nodeId, workspaceId };
    }
    return null;
  }

  async request(
    nodeId: NodeId,
    { operation, params, incarnation, timeoutMs }: NodeRequest,
  ): Promise<unknown> {
    const one = this.#require(nodeId);
    const connection = requireConnection(one.link, this.#show(one), incarnation);
    try {
      // What came from outside is held against the schema by the node.
      return await connection.request(operation, params as never, {
        timeoutMs: timeoutMs ?? requestTimeoutMs(operation, params),
      });
    } catch (error) {
      if (!(error instanceof FailureError) || error.failure.code !== 'connection-lost') throw error;
      const mayBeDone = OPERATIONS[operation].access !== 'observer';
      throw new FailureError(mayBeDone ? 'outcome-unknown' : 'node-offline', { nodeId }, { cause: error });
    }
  }

  requireOnline(nodeId: NodeId, incarnation: Incarnation | undefined): void {
    const one = this.#require(nodeId);
    requireConnection(one.link, this.#show(one), incarnation);
  }

  relay(nodeId: NodeId, webSocket: WebSocket, principal: Principal, audit: RelayAudit): void {
    const one = this.#require(nodeId);
    const relay = new Relay({
      webSocket,
      principal,
      audit,
      nodeId,
      placeOf: (id) => this.placeOf(id, nodeId),
      viewOf: (incarnation) => {
        this.requireOnline(nodeId, incarnation);
        return one.link.view;
      },
      ask: (request) => this.request(nodeId, request),
      parted: this.#parted,
      connect: (request) => {
        const main = requireConnection(one.link, this.#show(one), undefined);
        return one.way.openLine(main, request);
      },
      clientName: this.#client.name,
      version: this.#options.version,
      now: this.#options.now,
      watchersChanged: (sessionId) => this.#tellWatchers(nodeId, sessionId),
    });
    one.relays.add(relay);
    webSocket.once('close', () => one.relays.delete(relay));
  }

  watchers(sessionId: SessionId): readonly Watcher[] {
    const relays = [...this.#nodes.values()].flatMap((one) => [...one.relays]);
    return relays.flatMap(({ terminals, user }) =>
      terminals.all
        .filter((one) => one.sessionId === sessionId)
        .map(({ mode, drives, since }) => ({ user, mode, drives, since: new Date(since).toISOString() })),
    );
  }

  get failedCalls(): ReadonlyMap<FailureCode, number> {
    return this.#failedCalls.counts;
  }

  awaitsCall(nodeId: NodeId, channel: string): boolean {
    const way = this.#nodes.get(nodeId)?.way;
    return way instanceof CallingWay && way.awaits(channel);
  }

  calledHome(nodeId: NodeId, channel: string | null, webSocket: WebSocket, proved: () => void): void {
    const one = this.#nodes.get(nodeId);
    if (one === undefined || !(one.way instanceof CallingWay)) {
      webSocket.close(1008, 'unknown-node');
      return;
    }
    watchLiveness(webSocket);
    if (channel !== null) {
      // Nobody else knows the channel.
      if (one.way.answered(channel, webSocket)) proved();
      else webSocket.close(1008, 'nobody awaits that call');
      return;
    }
    one.way.accept(webSocket, this.#client).then(
      (connection) => {
        proved();
        return one.link.adopt(connection);
      },
      // Whoever it was did not prove to be that node: nothing that is told of it changes.
      (error: unknown) => this.#failedCalls.failed(nodeId, error),
    );
  }

  enrol({ nodeId, name, isNameFixed, key }: Parameters<Fleet['enrol']>[0]): NodeName {
    const { table, keys, now, hubId } = this.#options;
    const token = nodeKey(key);
    const enrolled = table.find(nodeId);
    if (enrolled !== null) {
      // An invitation is for a new node: it replaces no key, not even one that the hub cannot use. An admin removes that node first.
      if (this.#held.read(nodeId) !== token) throw new FailureError('already-enrolled', { nodeId });
      const isLeftOut = enrolled.way === 'calls-home' && !this.#nodes.has(nodeId);
      if (isLeftOut) this.#add(enrolled, new CallingWay({ hubId, token }), null);
      return enrolled.name;
    }
    const free = isNameFixed ? name : this.#freeName(name);
    const node: EnrolledNode = { id: nodeId, name: free, way: 'calls-home', enrolledAt: now() };
    // The key lies there before anybody relies on it; the node is served once its enrolment is on the disk. No node is enrolled by that id:
    // a key of before is nobody's, and what is taken back is the one that was written here.
    keys.write(nodeId, token);
    table.insert(node, {
      committed: () => this.#add(node, new CallingWay({ hubId, token }), null),
      undone: () => this.#held.forget(nodeId),
    });
    return free;
  }

  rename(nodeId: NodeId, name: NodeName): HubNode {
    const one = this.#require(nodeId);
    this.#options.table.rename(nodeId, name);
    one.node = { ...one.node, name };
    this.#tellState(one);
    return this.#show(one);
  }

  remove(nodeId: NodeId): void {
    const { table } = this.#options;
    if (table.find(nodeId) === null) throw new FailureError('unknown-node', { nodeId });
    table.remove(nodeId);
    this.#held.forget(nodeId);
    this.#failedCalls.forget(nodeId);
    const served = this.#nodes.get(nodeId);
    this.#nodes.delete(nodeId);
    if (served !== undefined) this.#end(served);
    this.#tell(nodeId, { kind: 'node-removed' });
  }

  eventsAfter(cursor: FleetCursor): readonly HubEvent[] | null {
    return this.#ring.after(cursor);
  }

  cursor(): FleetCursor {
    return this.#ring.cursor;
  }

  onEvent(listener: (event: HubEvent) => void): () => void {
    return this.#ring.listen(listener);
  }

  get #client(): Hello['client'] {
    return { name: 'roost-hub', version: this.#options.version };
  }

  #add(node: EnrolledNode, way: NodeWay, kept: KeptView | null): Enrolled {
    const { now, random, log } = this.#options;
    const link: NodeLink = new NodeLink({
      nodeId: node.id,
      view: kept?.view ?? null,
      seenAt: kept?.seenAt ?? null,
      dial: way instanceof DialledWay ? () => way.connect(this.#client) : null,
      now,
      random,
      onEvent: (body, sequence, at) => {
        one.isDirty = true;
        this.#ring.publish({ nodeId: node.id, sequence, at, body });
        if (body.kind === 'session-changed' || body.kind === 'session-removed') this.#tellCountsSoon(one);
      },
      onState: () => {
        one.isDirty = true;
        this.#tellState(one);
        // Another node is beside the hub now.
        const isAnother = link.link.reason === 'identity-changed';
        if (isAnother && way instanceof DialledWay) this.#beside.learn(way.target);
      },
      onResync: () => {
        one.isDirty = true;
        this.#tell(node.id, { kind: 'node-resynced' });
        one.toldCounts = null;
        this.#tellCountsSoon(one);
      },
      log: (message, error) => log(message, { nodeId: node.id, ...faultOf(error) }),
    });
    const one: Enrolled = {
      node,
      way,
      link,
      isDirty: false,
      countsTimer: null,
      toldCounts: null,
      relays: new Set(),
    };
    this.#nodes.set(node.id, one);
    return one;
  }

  /** One whose key cannot be read is left out until that is mended; the others are served. */
  #addCalling(node: EnrolledNode, kept: KeptView | null): void {
    try {
      this.#add(node, this.#held.wayOf(node.id), kept);
    } catch (error) {
      this.#options.log('a node cannot be served', { nodeId: node.id, ...faultOf(error) });
    }
  }

  /** The node beside the hub is enrolled by itself, once. */
  #enrolBeside(nodeId: NodeId, target: DialTarget): void {
    const { table, now } = this.#options;
    if (table.find(nodeId) !== null) return;
    const name = this.#freeName(NodeNameSchema.parse('local'));
    const node: EnrolledNode = { id: nodeId, name, way: 'dialled', enrolledAt: now() };
    table.insert(node);
    this.#add(node, new DialledWay(target), null).link.begin(0);
  }

  #freeName(wanted: NodeName): NodeName {
    const { table } = this.#options;
    for (let number = 1; ; number += 1) {
      const suffix = number === 1 ? '' : `-${number}`;
      const name = NodeNameSchema.parse(`${wanted.slice(0, 64 - suffix.length)}${suffix}`);
      if (!table.isNameTaken(name)) return name;
    }
  }

  #require(nodeId: NodeId): Enrolled {
    const one = this.#nodes.get(nodeId);
    if (one === undefined) throw new FailureError('unknown-node', { nodeId });
    return one;
  }

  #show({ node, way, link }: Enrolled): HubNode {
    const { view, seenAt, incarnation, version } = link;
    return {
      id: node.id,
      name: node.name,
      way: way.kind,
      link: link.link,
      incarnation,
      version,
      sequence: view.cursor?.sequence ?? 0,
      seenAt: seenAt === null ? null : new Date(seenAt).toISOString(),
      sessions: view.counts,
      enrolledAt: new Date(node.enrolledAt).toISOString(),
    };
  }

  #tell(nodeId: NodeId, body: HubEventBody): void {
    this.#ring.publish({ nodeId, sequence: null, at: new Date(this.#options.now()).toISOString(), body });
  }

  #tellWatchers(nodeId: NodeId, sessionId: SessionId): void {
    const workspaceId = this.#nodes.get(nodeId)?.link.view.sessions.get(sessionId)?.workspaceId ?? null;
    this.#tell(nodeId, {
      kind: 'watchers-changed',
      sessionId,
      workspaceId,
      watchers: [...this.watchers(sessionId)],
    });
  }

  #tellState(one: Enrolled): void {
    const node = this.#show(one);
    one.toldCounts = node.sessions;
    this.#tell(one.node.id, { kind: 'node-changed', node });
  }

  /** Most changes of a session are none of its node's. */
  #tellCountsSoon(one: Enrolled): void {
    one.countsTimer ??= setTimeout(() => {
      one.countsTimer = null;
      const { live, blocked } = one.link.view.counts;
      if (live !== one.toldCounts?.live || blocked !== one.toldCounts.blocked) this.#tellState(one);
    }, COUNTS_MS).unref();
  }

  #end(one: Enrolled): void {
    if (one.countsTimer !== null) clearTimeout(one.countsTimer);
    for (const relay of one.relays) relay.end('node-removed');
    one.link.close();
  }
}
