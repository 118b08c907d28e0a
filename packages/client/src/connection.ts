/**
 * One authenticated line to a node: the handshake, requests with typed results, and what the node pushes. Every open request
 * ends exactly once: by its answer, its deadline, its signal, or the loss of the connection.
 */
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import {
  FailureError,
  NODE_FRAME_BYTES_MAX,
  OPERATIONS,
  type ConnectionId,
  type ControllerState,
  type Hello,
  type Incarnation,
  type NodeEvent,
  type OperationName,
  type OutputFrame,
  type ParamsInput,
  type Request,
  type Result,
  type ResyncRequired,
  type Role,
  type ScreenFrame,
  type Selection,
  type SessionAddress,
  type UnknownEvent,
} from '@roost/protocol';
import WebSocket from 'ws';
import { nodeTokenPath } from './home.ts';
import { readToken } from './node-token.ts';
import { assertSocketPath } from './open-socket.ts';
import { ONE_SHOT, readFrame } from './read-frame.ts';
import { requestMessages } from './request-messages.ts';
import { shakeHands, type Handshake } from './shake-hands.ts';

/** Milliseconds that a node may take until it is ready for requests, before it counts as hanging. */
export const READY_TIMEOUT_MS = 3_000;
/** Milliseconds that a request may take unless it names its own deadline. */
const REQUEST_TIMEOUT_MS = 30_000;

export type ConnectOptions = ConnectTarget & {
  /** The token itself, or the file that holds it; by default `node.token` beside the socket. */
  readonly token?: string;
  readonly tokenPath?: string;
  /** Operator by default. An observer may only look; the operator's token proves both. */
  readonly role?: Role;
  /** Milliseconds until the node is ready. */
  readonly timeoutMs?: number;
  readonly client: Hello['client'];
};

/** A Unix socket, or a `ws:` URL on this machine. */
type ConnectTarget = { readonly socketPath: string } | { readonly url: string };

export interface RequestOptions {
  /** Milliseconds; the request then fails with `request-timed-out`, but may still land. */
  readonly timeoutMs?: number;
  /** Stops waiting; like the deadline, it does not take the request back. */
  readonly signal?: AbortSignal;
  /**
   * brief: take the controller lease for this request alone, when nobody holds it. held: count on the lease of
   * `controller.acquire`. By default held once that has succeeded on this connection, brief before.
   */
  readonly lease?: 'brief' | 'held';
}

/** The last event that was seen; sequence 0 for none. The incarnation notices a journal that was made anew. */
export interface EventCursor {
  readonly sequence: number;
  readonly incarnation?: Incarnation | undefined;
}

type EventListener = (event: NodeEvent | UnknownEvent) => void;
type ResyncListener = (resync: ResyncRequired) => void;
type ScreenListener = (session: SessionAddress, frame: ScreenFrame) => void;
type OutputListener = (chunk: OutputFrame) => void;

export interface NodeConnection {
  readonly node: Selection['node'];
  readonly protocol: number;
  readonly capabilities: readonly string[];
  readonly role: Role;
  /** Who this connection is, in events and failures of this start of the node. */
  readonly connectionId: ConnectionId;
  /** The last event of the journal when the connection was made. */
  readonly sequence: number;
  /** Who controlled the node at that moment. */
  readonly controller: ControllerState | null;
  /** Rejects with `FailureError` on every refusal; with the reason of `signal` when that aborts. */
  request<Name extends OperationName>(
    name: Name,
    params: ParamsInput<Name>,
    options?: RequestOptions,
  ): Promise<Result<Name>>;
  /**
   * Sends the listener every event after a cursor, in order, as long as the connection lives. One subscription a
   * connection. When the journal no longer holds what comes next, `onResync` is told first, and events after its `last`
   * follow.
   */
  subscribeEvents(
    after: EventCursor,
    listener: EventListener,
    onResync?: ResyncListener,
  ): Promise<Result<'events.subscribe'>>;
  /**
   * Tells the listener the screens of these sessions as they change: the newest of each, none that was overtaken meanwhile.
   * Replaces an earlier watch.
   */
  watchScreens(
    params: ParamsInput<'screen.watch'>,
    listener: ScreenListener,
  ): Promise<Result<'screen.watch'>>;
  unwatchScreens(): Promise<void>;
  /** Tells the listener one stream of a pipe session, in order, from an offset. Answers where it begins. */
  followOutput(
    params: ParamsInput<'session.followOutput'>,
    listener: OutputListener,
  ): Promise<Result<'session.followOutput'>>;
  unfollowOutput(params: ParamsInput<'session.unfollowOutput'>): Promise<void>;
  /** Holds back (and lets go) everything that the node sends: back-pressure for whoever reads too slowly. */
  pause(): void;
  resume(): void;
  /** Called once, at once when it is closed already. Answers how to no longer be told. */
  onClose(listener: () => void): () => void;
  /** Open requests fail with `connection-lost`. */
  close(): void;
}

interface OpenRequest {
  settle(frame: { result: unknown } | { error: unknown }): void;
}

/**
 * Connects and shakes hands. Fails with `node-not-running` when nobody listens, `node-unresponsive` when nobody answers,
 * `home-unusable` when the token cannot be read, `unauthorized` when a proof is wrong, `unsupported-protocol`, or with what
 * the node refuses with.
 */
export async function connectNode(options: ConnectOptions): Promise<NodeConnection> {
  const { client, role = 'operator', timeoutMs = READY_TIMEOUT_MS } = options;
  if ('socketPath' in options) assertSocketPath(options.socketPath);
  const webSocket = openWebSocket(options);
  const handshake = await shakeHands(webSocket, {
    place: 'socketPath' in options ? { socket: options.socketPath } : { url: options.url },
    client,
    role,
    token: () => readToken(tokenSource(options), role),
    timeoutMs,
  });
  return new OpenConnection(webSocket, role, handshake);
}

function openWebSocket(target: ConnectTarget): WebSocket {
  const limits = { perMessageDeflate: false, maxPayload: NODE_FRAME_BYTES_MAX };
  if ('url' in target) return new WebSocket(target.url, limits);
  // The path goes to the socket itself: in a URL it would have to be free of `:`, `%`, `?`.
  const { socketPath } = target;
  return new WebSocket('ws://localhost/', {
    ...limits,
    createConnection: () => createConnection(socketPath),
  });
}

function tokenSource(options: ConnectOptions): { token: string } | { path: string } {
  if (options.token !== undefined) return { token: options.token };
  if (options.tokenPath !== undefined) return { path: options.tokenPath };
  if ('socketPath' in options) return { path: nodeTokenPath(dirname(options.socketPath)) };
  throw new FailureError('home-unusable', { url: options.url, reason: 'no token was named' });
}

class OpenConnection implements NodeConnection {
  readonly node: Selection['node'];
  readonly protocol: number;
  readonly capabilities: readonly string[];
  readonly role: Role;
  readonly connectionId: ConnectionId;
  readonly sequence: number;
  readonly controller: ControllerState | null;
  readonly #webSocket: WebSocket;
  readonly #requests = new Map<number, OpenRequest>();
  readonly #closeListeners = new Set<() => void>();
  readonly #outputListeners = new Map<string, OutputListener>();
  #eventListener: EventListener | undefined;
  #resyncListener: ResyncListener | undefined;
  #screenListener: ScreenListener | undefined;
  /** Whether `controller.acquire` succeeded here: losing the lease afterwards is to be noticed, not papered over. */
  #holdsLease = false;
  #nextId = 1;
  #closed = false;

  constructor(webSocket: WebSocket, role: Role, { selection, ready }: Handshake) {
    this.node = selection.node;
    this.protocol = selection.protocol;
    this.capabilities = selection.capabilities;
    this.role = role;
    this.connectionId = ready.connectionId;
    this.sequence = ready.sequence;
    this.controller = ready.controller;
    this.#webSocket = webSocket;
    webSocket.removeAllListeners('error');
    webSocket.on('error', () => webSocket.terminate());
    webSocket.on('close', () => this.#onClosed());
    webSocket.on('message', (data) => this.#onMessage(data));
    if (webSocket.readyState !== WebSocket.OPEN) this.#onClosed();
  }

  request<Name extends OperationName>(
    name: Name,
    params: ParamsInput<Name>,
    options: RequestOptions = {},
  ): Promise<Result<Name>> {
    const { timeoutMs = REQUEST_TIMEOUT_MS, signal } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(abortReason(signal));
        return;
      }
      if (this.#closed) {
        reject(new FailureError('connection-lost'));
        return;
      }
      const id = this.#nextId++;
      const messages = requestMessages({
        kind: 'request',
        id,
        operation: name,
        params,
        deadlineMs: Math.max(1, Math.ceil(timeoutMs)),
        ...this.#lease(name, options),
      });
      const settle: OpenRequest['settle'] = (outcome) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#requests.delete(id);
        if ('error' in outcome) {
          reject(outcome.error instanceof Error ? outcome.error : new Error(String(outcome.error)));
          return;
        }
        if (name === 'controller.acquire') this.#holdsLease = true;
        if (name === 'controller.release') this.#holdsLease = false;
        const parsed = OPERATIONS[name].result.safeParse(outcome.result, ONE_SHOT);
        // The declaration of `name` is where both the schema and the type come from.
        if (parsed.success) resolve(parsed.data as Result<Name>);
        else reject(new FailureError('internal-error', { operation: name }, { cause: parsed.error }));
      };
      const onAbort = (): void => settle({ error: signal === undefined ? undefined : abortReason(signal) });
      const timer = setTimeout(
        () => settle({ error: new FailureError('request-timed-out', { operation: name, timeoutMs }) }),
        timeoutMs,
      );
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#requests.set(id, { settle });
      for (const message of messages) this.#webSocket.send(message);
    });
  }

  async subscribeEvents(
    after: EventCursor,
    listener: EventListener,
    onResync?: ResyncListener,
  ): Promise<Result<'events.subscribe'>> {
    // Events may overtake the answer.
    this.#eventListener = listener;
    this.#resyncListener = onResync;
    const { sequence, incarnation } = after;
    return this.request('events.subscribe', {
      after: sequence,
      ...(incarnation === undefined ? {} : { incarnation }),
    });
  }

  watchScreens(
    params: ParamsInput<'screen.watch'>,
    listener: ScreenListener,
  ): Promise<Result<'screen.watch'>> {
    this.#screenListener = listener;
    return this.request('screen.watch', params);
  }

  async unwatchScreens(): Promise<void> {
    this.#screenListener = undefined;
    await this.request('screen.unwatch', {});
  }

  followOutput(
    params: ParamsInput<'session.followOutput'>,
    listener: OutputListener,
  ): Promise<Result<'session.followOutput'>> {
    const key = outputKey(params.sessionId, params.stream);
    this.#outputListeners.set(key, listener);
    return this.request('session.followOutput', params).catch((error: unknown) => {
      if (this.#outputListeners.get(key) === listener) this.#outputListeners.delete(key);
      throw error;
    });
  }

  async unfollowOutput(params: ParamsInput<'session.unfollowOutput'>): Promise<void> {
    this.#outputListeners.delete(outputKey(params.sessionId, params.stream));
    await this.request('session.unfollowOutput', params);
  }

  pause(): void {
    if (this.#webSocket.readyState === WebSocket.OPEN) this.#webSocket.pause();
  }

  resume(): void {
    this.#webSocket.resume();
  }

  onClose(listener: () => void): () => void {
    if (this.#closed) {
      listener();
      return () => undefined;
    }
    this.#closeListeners.add(listener);
    return () => this.#closeListeners.delete(listener);
  }

  close(): void {
    this.#webSocket.resume();
    this.#webSocket.close();
    this.#onClosed();
  }

  #tellOutput(frame: OutputFrame): void {
    const key = outputKey(frame.session.sessionId, frame.stream);
    const listener = this.#outputListeners.get(key);
    if (frame.ended) this.#outputListeners.delete(key);
    listener?.(frame);
  }

  #lease(name: OperationName, { lease }: RequestOptions): Pick<Request, 'lease'> {
    const isBrief = lease === undefined ? !this.#holdsLease : lease === 'brief';
    return isBrief && OPERATIONS[name].access === 'controller' ? { lease: 'brief' } : {};
  }

  #onMessage(data: WebSocket.RawData): void {
    if (this.#closed) return;
    const frame = readFrame(data);
    switch (frame?.kind) {
      case 'response':
        this.#requests.get(frame.id)?.settle({ result: frame.result });
        return;
      case 'failure':
        this.#requests.get(frame.id)?.settle({ error: FailureError.from(frame.failure) });
        return;
      case 'event':
        this.#eventListener?.(frame.event);
        return;
      case 'resync-required':
        this.#resyncListener?.(frame);
        return;
      case 'screen':
        this.#screenListener?.(frame.session, frame.frame);
        return;
      case 'output':
        this.#tellOutput(frame);
        return;
      case 'unknown-kind':
        return;
      case 'refused':
      case 'challenge':
      case 'ready':
      case undefined:
        // Not a node of this protocol any more, or one that lets nobody in any longer: nothing that follows can be trusted.
        this.#webSocket.terminate();
    }
  }

  #onClosed(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const open of [...this.#requests.values()])
      open.settle({ error: new FailureError('connection-lost') });
    for (const listener of this.#closeListeners) listener();
    this.#closeListeners.clear();
  }
}

function outputKey(sessionId: string, stream: string): string {
  return `${sessionId} ${stream}`;
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error
    ? signal.reason
    : new DOMException('The request was aborted.', 'AbortError');
}
