/**
 * One authenticated line to a node: the handshake, requests with typed results, and what the node pushes. Every open request
 * ends exactly once: by its answer, its deadline, its signal, or the loss of the connection.
 */
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import {
  FailureError,
  NODE_FRAME_BYTES_MAX,
  type ConnectionId,
  type ControllerState,
  type Hello,
  type Incarnation,
  type NodeEvent,
  type OperationName,
  type OutputFrame,
  type ParamsInput,
  type Result,
  type ResyncRequired,
  type Role,
  type ScreenFrame,
  type Selection,
  type SessionAddress,
  type UnknownEvent,
} from '@roost/protocol';
import { watchLiveness, type Token } from '@roost/protocol/node';
import WebSocket from 'ws';
import { nodeTokenPath } from './home.ts';
import { readToken } from './node-token.ts';
import { assertSocketPath } from './open-socket.ts';
import { OpenConnection } from './open-connection.ts';
import type { RequestOptions } from './open-requests.ts';
import { shakeHands, type Handshake } from './shake-hands.ts';

/** Milliseconds that a node may take until it is ready for requests, before it counts as hanging. */
export const READY_TIMEOUT_MS = 3_000;

export type ConnectOptions = ConnectTarget & {
  /** The token itself, or the file that holds it; by default `node.token` beside the socket. */
  readonly token?: string;
  readonly tokenPath?: string;
  /** Operator by default. An observer may only look; the operator's token proves both. */
  readonly role?: Role;
  /** Milliseconds until the node is ready. */
  readonly timeoutMs?: number;
  readonly client: Hello['client'];
  /** Ends the line when the node hangs: a process that is stopped keeps its sockets. Off by default. */
  readonly watchesLiveness?: boolean;
};

export interface CallerOptions {
  readonly token: Token;
  readonly role: Role;
  readonly timeoutMs?: number;
  readonly client: Hello['client'];
}

interface LineOptions {
  /** What is offered to the node; everything that this build knows, otherwise. */
  readonly offer?: Pick<Hello, 'protocol' | 'capabilities'>;
}

/** A Unix socket, or a `ws:` URL on this machine. */
type ConnectTarget = { readonly socketPath: string } | { readonly url: string };

/** The last event that was seen; sequence 0 for none. The incarnation notices a journal that was made anew. */
export interface EventCursor {
  readonly sequence: number;
  readonly incarnation?: Incarnation | undefined;
}

/** `bytes`: of the message that it came in. */
export type EventListener = (event: NodeEvent | UnknownEvent, bytes: number) => void;
export type ResyncListener = (resync: ResyncRequired) => void;
export type ScreenListener = (session: SessionAddress, frame: ScreenFrame) => void;
export type OutputListener = (chunk: OutputFrame) => void;

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
  /** Whether both ends are on this machine, by a socket in the node's own directory: then a keeper's socket can be opened, too. */
  readonly isLocal: boolean;
  /** The terminal lane of a session over this connection; ends with it. The first frame on it is `attach` with the ticket. */
  openTerminal(
    params: ParamsInput<'terminal.open'>,
  ): Promise<{ readonly ticket: string; readonly lane: Duplex }>;
  /** Holds back (and lets go) everything that the node sends: back-pressure for whoever reads too slowly. */
  pause(): void;
  resume(): void;
  /** Called once, at once when it is closed already. Answers how to no longer be told. */
  onClose(listener: () => void): () => void;
  /** Open requests fail with `connection-lost`. */
  close(): void;
}

/**
 * Connects and shakes hands. Fails with `node-not-running` when nobody listens, `node-unresponsive` when nobody answers,
 * `home-unusable` when the token cannot be read, `unauthorized` when a proof is wrong, `unsupported-protocol`, or with what
 * the node refuses with.
 */
export async function connectNode(options: ConnectOptions): Promise<NodeConnection> {
  return new OpenConnection(await openLine(options), {
    role: roleOf(options),
    isLocal: 'socketPath' in options,
  });
}

/** A line to a node whose handshake is done, for passing frames on. Nothing that comes is lost when it is listened to at once. */
export interface NodeLine extends Handshake {
  readonly webSocket: WebSocket;
}

/** Fails as `connectNode` does. */
export async function openLine(options: ConnectOptions & LineOptions): Promise<NodeLine> {
  const { client, timeoutMs = READY_TIMEOUT_MS, watchesLiveness = false, offer } = options;
  if ('socketPath' in options) assertSocketPath(options.socketPath);
  const webSocket = openWebSocket(options);
  const role = roleOf(options);
  const handshake = await shakeHands(webSocket, {
    place: 'socketPath' in options ? { socket: options.socketPath } : { url: options.url },
    client,
    role,
    token: () => readToken(tokenSource(options), role),
    timeoutMs,
    ...(offer === undefined ? {} : { offer }),
  });
  if (watchesLiveness) watchLiveness(webSocket);
  return { webSocket, ...handshake };
}

/** The same over a WebSocket that the node has opened: it called. */
export async function callerLine(
  webSocket: WebSocket,
  { client, role, token, timeoutMs = READY_TIMEOUT_MS, offer }: CallerOptions & LineOptions,
): Promise<NodeLine> {
  const handshake = await shakeHands(webSocket, {
    place: {},
    client,
    role,
    token: () => token,
    timeoutMs,
    ...(offer === undefined ? {} : { offer }),
  });
  return { webSocket, ...handshake };
}

/** A connection to a node that has called. Fails as `connectNode` does. */
export async function connectCaller(webSocket: WebSocket, options: CallerOptions): Promise<NodeConnection> {
  return new OpenConnection(await callerLine(webSocket, options), { role: options.role, isLocal: false });
}

function roleOf({ role = 'operator' }: Pick<ConnectOptions, 'role'>): Role {
  return role;
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
