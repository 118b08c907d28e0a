// The hub's own line to one node, and the view that its events keep. Made anew whenever it is lost; meanwhile the view is what was known
// last, and the state of the link says so.
import type { EventCursor, NodeConnection } from '@roost/client';
import {
  FailureError,
  OPERATIONS,
  type HubEventBody,
  type HubNode,
  type Incarnation,
  type Interaction,
  type LinkReason,
  type NodeEvent,
  type NodeId,
  type UnknownEvent,
} from '@roost/protocol';
import { REAL_UPTIME_MS, reconnectDelay } from '@roost/protocol/node';
import { isRefusal, reasonOf } from './link-reason.ts';
import { redactEvent, redactVersion } from './redact.ts';
import { View } from './view.ts';

/** Milliseconds after which a lost link is no longer taken for a short loss. */
const STALE_MS = 60_000;
/** Milliseconds for a snapshot and the subscription. */
const SYNC_MS = 30_000;
/** Events, and bytes of them, that may come while a snapshot is made. */
const WAITING_EVENTS_MAX = 5_000;
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

type Link = HubNode['link'];

export interface LinkOptions {
  readonly nodeId: NodeId;
  /** As it was kept; null when nothing is known of the node. */
  readonly view: View | null;
  /** When that was right, in milliseconds since the epoch. */
  readonly seenAt: number | null;
  /** Makes the connection, for nodes that are dialled; null where the node calls. */
  readonly dial: (() => Promise<NodeConnection>) | null;
  readonly now: () => number;
  readonly random: () => number;
  /** An event is in the view. */
  readonly onEvent: (body: HubEventBody, sequence: number, at: string) => void;
  /** The state of the link changed. */
  readonly onState: () => void;
  /** The view is another one: everything is to be read anew. */
  readonly onResync: () => void;
  readonly log: (message: string, error?: unknown) => void;
}

export class NodeLink {
  readonly #options: LinkOptions;
  #view: View;
  #connection: NodeConnection | null = null;
  #state: Link['state'];
  #since: number;
  #reason: LinkReason | null = 'never-connected';
  #attempts = 0;
  #failures = 0;
  #onlineSince = 0;
  #seenAt: number | null;
  #retry: NodeJS.Timeout | null = null;
  #staleTimer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#view = options.view ?? new View();
    this.#seenAt = options.seenAt;
    this.#since = options.now();
    // What was seen before the hub began is shown, and not taken for what is.
    this.#state = options.view === null ? 'connecting' : 'stale';
    if (this.#state === 'stale') this.#awaitOffline();
  }

  get view(): View {
    return this.#view;
  }

  /** While the link is online. */
  get connection(): NodeConnection | null {
    return this.#state === 'online' ? this.#connection : null;
  }

  /** Milliseconds since the epoch; null: never. */
  get seenAt(): number | null {
    return this.#state === 'online' ? this.#options.now() : this.#seenAt;
  }

  /** The start of the node: that of the line, for what it tells of itself may still be on its way. */
  get incarnation(): Incarnation | null {
    return this.connection?.node.incarnation ?? this.#view.cursor?.incarnation ?? null;
  }

  get version(): string | null {
    const { connection } = this;
    return connection === null ? this.#view.version : redactVersion(connection.node.version);
  }

  get link(): Link {
    return {
      state: this.#state,
      since: new Date(this.#since).toISOString(),
      reason: this.#reason,
      attempts: this.#attempts,
    };
  }

  /** Dials, and goes on dialling. `delayMs`: not all nodes at the same moment. */
  begin(delayMs: number): void {
    if (this.#options.dial === null) return;
    this.#retry = setTimeout(() => void this.#dialOnce(), delayMs).unref();
  }

  /** Takes a connection that the node made and proved, in place of the one that was. */
  async adopt(connection: NodeConnection): Promise<void> {
    if (this.#isClosed) {
      connection.close();
      return;
    }
    const before = this.#connection;
    if (before !== null) {
      this.#connection = null;
      before.close();
      this.#lost('connection-lost');
    }
    await this.#serve(connection);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    if (this.#staleTimer !== null) clearTimeout(this.#staleTimer);
    this.#connection?.close();
    this.#connection = null;
  }

  async #dialOnce(): Promise<void> {
    const { dial } = this.#options;
    if (dial === null || this.#isClosed) return;
    this.#attempts += 1;
    try {
      await this.#serve(await dial());
    } catch (error) {
      this.#lost(reasonOf(error), error);
    }
    if (this.#isStopped()) return;
    this.#failures += 1;
    const isRefused = this.#reason !== null && isRefusal(this.#reason);
    const delay = reconnectDelay(this.#failures, isRefused, this.#options.random());
    this.#retry = setTimeout(() => void this.#dialOnce(), delay).unref();
  }

  /** Asked anew after each wait. */
  #isStopped(): boolean {
    return this.#isClosed;
  }

  /** Until the connection ends. */
  async #serve(connection: NodeConnection): Promise<void> {
    const { nodeId, now } = this.#options;
    if (connection.node.id !== nodeId) {
      connection.close();
      this.#lost('identity-changed');
      return;
    }
    this.#connection = connection;
    const ended = new Promise<void>((resolve) => connection.onClose(resolve));
    try {
      await this.#follow(connection);
    } catch (error) {
      connection.close();
      if (this.#connection !== connection) return;
      this.#connection = null;
      this.#lost(reasonOf(error), error);
      return;
    }
    if (this.#connection === connection) {
      this.#onlineSince = now();
      this.#attempts = 0;
      this.#enter('online', null);
    }
    await ended;
    // Another one may have taken its place.
    if (this.#connection !== connection) return;
    this.#connection = null;
    if (now() - this.#onlineSince >= REAL_UPTIME_MS) this.#failures = 0;
    this.#lost('connection-lost');
  }

  /** Resolves when the view is live. */
  async #follow(connection: NodeConnection): Promise<void> {
    const waiting: (NodeEvent | UnknownEvent)[] = [];
    let waitingBytes = 0;
    let isLive = false;
    let live = (): void => undefined;
    const isRenewed = new Promise<void>((resolve) => (live = resolve));
    const onEvent = (event: NodeEvent | UnknownEvent, bytes: number): void => {
      if (this.#connection !== connection) return;
      if (isLive) {
        this.#takeOrEnd(connection, event);
        return;
      }
      waitingBytes += bytes;
      waiting.push(event);
      if (waiting.length > WAITING_EVENTS_MAX || waitingBytes > WAITING_BYTES_MAX) connection.close();
    };
    const renew = async (): Promise<void> => {
      const snapshot = await connection.request('node.snapshot', {}, { timeoutMs: SYNC_MS });
      const view = View.of(snapshot, connection.node.version);
      view.putInteractions(await listInteractions(connection));
      this.#view = view;
    };
    const onResync = (): void => {
      // What is between is gone from the journal: everything is read anew, and what comes meanwhile waits.
      isLive = false;
      renew()
        .then(goLive)
        .catch((error: unknown) => {
          this.#options.log('a view could not be made anew', error);
          connection.close();
        });
    };
    const goLive = (): void => {
      isLive = true;
      waitingBytes = 0;
      this.#options.onResync();
      for (const event of waiting.splice(0)) this.#take(event);
      live();
    };
    const isKnown = this.#view.cursor !== null;
    if (isKnown) this.#view.putInteractions(await listInteractions(connection));
    else await renew();
    const after: EventCursor = this.#view.cursor ?? { sequence: 0 };
    if (!isKnown) this.#options.onResync();
    isLive = true;
    const { resyncRequired } = await connection.subscribeEvents(after, onEvent, onResync);
    // Until it is made anew, the view is of before.
    if (resyncRequired) await Promise.race([isRenewed, closed(connection)]);
  }

  /** What cannot be taken ends the line, and nothing else. */
  #takeOrEnd(connection: NodeConnection, event: NodeEvent | UnknownEvent): void {
    try {
      this.#take(event);
    } catch (error) {
      this.#options.log('an event could not be taken', error);
      connection.close();
    }
  }

  #take({ sequence, incarnation, ...event }: NodeEvent | UnknownEvent): void {
    const view = this.#view;
    if (view.cursor !== null && sequence <= view.cursor.sequence) return;
    view.cursor = { sequence, incarnation };
    if (event.body === null) return;
    const body = redactEvent(event.body, view);
    if (body === null) return;
    view.apply(body);
    this.#options.onEvent(body, sequence, event.at);
  }

  #lost(reason: LinkReason, error?: unknown): void {
    if (this.#isClosed) return;
    if (error !== undefined) this.#options.log(`no line to the node: ${reason}`, error);
    if (this.#state === 'online') this.#seenAt = this.#options.now();
    if (isRefusal(reason)) this.#enter('refused', reason);
    else if (this.#view.cursor === null) this.#enter('connecting', reason);
    else if (this.#state === 'offline') this.#enter('offline', reason);
    else {
      this.#enter('stale', reason);
      this.#awaitOffline();
    }
  }

  #awaitOffline(): void {
    this.#staleTimer ??= setTimeout(() => {
      this.#staleTimer = null;
      if (this.#state === 'stale') this.#enter('offline', this.#reason);
    }, STALE_MS).unref();
  }

  #enter(state: Link['state'], reason: LinkReason | null): void {
    if (state === 'online' && this.#staleTimer !== null) {
      clearTimeout(this.#staleTimer);
      this.#staleTimer = null;
    }
    const isNews = state !== this.#state || reason !== this.#reason;
    if (state !== this.#state) this.#since = this.#options.now();
    this.#state = state;
    this.#reason = reason;
    if (isNews) this.#options.onState();
  }
}

async function listInteractions(connection: NodeConnection): Promise<Interaction[]> {
  const { capability } = OPERATIONS['interaction.list'];
  // A node of an earlier build has none.
  if (capability !== null && !connection.capabilities.includes(capability)) return [];
  const { interactions } = await connection.request('interaction.list', {}, { timeoutMs: SYNC_MS });
  return interactions;
}

function closed(connection: NodeConnection): Promise<void> {
  return new Promise((resolve) => void connection.onClose(resolve));
}

/** @throws FailureError: node-offline, stale-incarnation: nothing was asked. */
export function requireConnection(
  link: NodeLink,
  node: HubNode,
  incarnation: string | undefined,
): NodeConnection {
  const { connection } = link;
  if (connection === null) {
    throw new FailureError('node-offline', {
      nodeId: node.id,
      state: node.link.state,
      since: node.link.since,
    });
  }
  if (incarnation !== undefined && connection.node.incarnation !== incarnation) {
    throw new FailureError('stale-incarnation', {
      nodeId: node.id,
      incarnation: connection.node.incarnation,
    });
  }
  return connection;
}
