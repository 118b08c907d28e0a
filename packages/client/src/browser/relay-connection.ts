/**
 * A line to one node through a hub (`hub/relay.ts` of the protocol): requests with typed results, what the node pushes, and terminals. Every
 * open request ends exactly once: by its answer, its deadline, its signal, or the loss of the line.
 */
import {
  FailureError,
  OFFERED_CAPABILITIES,
  PROTOCOL_MAX,
  PROTOCOL_MIN,
  RELAY_PATH,
  RelayAnswer,
  TERMINAL_CHANNEL_HEADER_BYTES,
  type ControllerState,
  type Hello,
  type NodeId,
  type OperationName,
  type ParamsInput,
  type RelayOpen,
  type RelayOpened,
  type Result,
  type Role,
  type ScreenFrame,
  type Selection,
  type SessionAddress,
  type SessionId,
} from '@roost/protocol';
import { deliverFrame } from '../deliver-frame.ts';
import { ONE_SHOT, parseJsonText, readFrameValue } from '../frame-value.ts';
import { OpenRequests, type RequestOptions } from '../open-requests.ts';
import { TerminalLane, type LaneCarrier, type TerminalAttachment } from '../terminal-lane.ts';
import type { OpenWebSocket, WebSocketLike } from './web-socket.ts';

/** Milliseconds until the node is ready behind the hub: it may have to call home first. */
const OPEN_TIMEOUT_MS = 15_000;
/** Bytes in one message, below what a node takes in a frame. */
const MESSAGE_BYTES_MAX = 128 * 1024;
/** Bytes that may wait to be sent before a line counts as full. */
const FULL_BYTES = 1024 * 1024;

export interface RelayOptions {
  readonly openWebSocket: OpenWebSocket;
  /** Origin of the hub with `ws:` or `wss:`, without a slash at the end. */
  readonly baseUrl: string;
  readonly nodeId: NodeId;
  readonly client: Hello['client'];
  readonly signal?: AbortSignal;
}

export interface TerminalOptions {
  readonly sessionId: SessionId;
  /** drive: may become the one whose keystrokes and size count. */
  readonly mode: 'drive' | 'watch';
  readonly columns: number;
  readonly rows: number;
  /** Bytes that may be on their way without acknowledgement. */
  readonly window?: number;
}

type ScreenListener = (session: SessionAddress, frame: ScreenFrame) => void;

export interface RelayConnection {
  readonly node: Selection['node'];
  readonly capabilities: readonly string[];
  readonly role: Role;
  readonly controller: ControllerState | null;
  request<Name extends OperationName>(
    name: Name,
    params: ParamsInput<Name>,
    options?: RequestOptions,
  ): Promise<Result<Name>>;
  /** Tells the listener the screens of these sessions as they change: the newest of each. Replaces an earlier watch. */
  watchScreens(sessions: readonly SessionId[], listener: ScreenListener): Promise<void>;
  /** @throws FailureError: what `terminal.open` and the owner of the screen refuse with. */
  openTerminal(options: TerminalOptions): Promise<TerminalAttachment>;
  /** Called once, at once when it is closed already. Answers how to no longer be told. */
  onClose(listener: () => void): () => void;
  /** Open requests fail with `connection-lost`. */
  close(): void;
}

/** @throws FailureError: what the hub or the node refuses with; hub-unreachable; unsupported-protocol; request-timed-out. */
export async function connectThroughHub(options: RelayOptions): Promise<RelayConnection> {
  const { openWebSocket, baseUrl, nodeId, client, signal } = options;
  signal?.throwIfAborted();
  const webSocket = openWebSocket(baseUrl + RELAY_PATH.replace('{node}', nodeId));
  webSocket.binaryType = 'arraybuffer';
  const opened = await new Promise<RelayOpened>((resolve, reject) => {
    const settle = (outcome: RelayOpened | Error): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      for (const stop of stops) stop();
      if (!(outcome instanceof Error)) {
        resolve(outcome);
        return;
      }
      webSocket.close();
      reject(outcome);
    };
    const onAbort = (): void => settle(new DOMException('The request was aborted.', 'AbortError'));
    const onLost = (): void => settle(new FailureError('hub-unreachable'));
    const timer = setTimeout(() => settle(new FailureError('request-timed-out')), OPEN_TIMEOUT_MS);
    signal?.addEventListener('abort', onAbort, { once: true });
    const stops = [
      listen(webSocket, 'open', () => webSocket.send(JSON.stringify(openFrame(client)))),
      listen(webSocket, 'message', ({ data }) => settle(readOpened(data))),
      listen(webSocket, 'error', onLost),
      listen(webSocket, 'close', onLost),
    ];
  });
  const { protocol } = opened.selection;
  if (protocol >= PROTOCOL_MIN && protocol <= PROTOCOL_MAX) return new OpenRelay(webSocket, opened);
  webSocket.close();
  throw new FailureError('unsupported-protocol');
}

function openFrame(client: Hello['client']): RelayOpen {
  return {
    kind: 'open',
    protocol: { min: PROTOCOL_MIN, max: PROTOCOL_MAX },
    capabilities: [...OFFERED_CAPABILITIES],
    client,
  };
}

function readOpened(data: unknown): RelayOpened | FailureError {
  const value = typeof data === 'string' ? parseJsonText(data) : undefined;
  const answer = RelayAnswer.safeParse(value, ONE_SHOT).data;
  if (answer?.kind === 'opened') return answer;
  return answer === undefined ? new FailureError('unsupported-protocol') : FailureError.from(answer.failure);
}

class OpenRelay implements RelayConnection {
  readonly node: Selection['node'];
  readonly capabilities: readonly string[];
  readonly role: Role;
  readonly controller: ControllerState | null;
  readonly #webSocket: WebSocketLike;
  readonly #requests: OpenRequests;
  readonly #lanes = new Map<number, TerminalLane>();
  /** Channels that ended before their lane was there. */
  readonly #endedEarly = new Set<number>();
  readonly #closeListeners = new Set<() => void>();
  #screenListener: ScreenListener | undefined;
  #closed = false;

  constructor(webSocket: WebSocketLike, { selection, role, ready }: RelayOpened) {
    this.node = selection.node;
    this.capabilities = selection.capabilities;
    this.role = role;
    this.controller = ready.controller;
    this.#webSocket = webSocket;
    this.#requests = new OpenRequests((message) => webSocket.send(message));
    listen(webSocket, 'message', ({ data }) => this.#onMessage(data));
    listen(webSocket, 'error', () => this.close());
    listen(webSocket, 'close', () => this.#onClosed());
  }

  request<Name extends OperationName>(
    name: Name,
    params: ParamsInput<Name>,
    options?: RequestOptions,
  ): Promise<Result<Name>> {
    return this.#requests.ask(name, params, options);
  }

  async watchScreens(sessions: readonly SessionId[], listener: ScreenListener): Promise<void> {
    this.#screenListener = listener;
    if (sessions.length === 0) await this.request('screen.unwatch', {});
    else await this.request('screen.watch', { sessions: [...sessions] });
  }

  async openTerminal({ sessionId, mode, ...size }: TerminalOptions): Promise<TerminalAttachment> {
    const { channel, ticket } = await this.request('terminal.open', { sessionId, mode });
    if (this.#closed || this.#endedEarly.delete(channel)) throw new FailureError('keeper-unavailable');
    const lane = new TerminalLane(this.#carrierOf(channel));
    this.#lanes.set(channel, lane);
    await lane.open({ ticket, ...size });
    return lane;
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
    this.#webSocket.close();
    this.#onClosed();
  }

  #carrierOf(channel: number): LaneCarrier {
    const end = (): void => {
      if (!this.#lanes.delete(channel) || this.#closed) return;
      this.#webSocket.send(channelMessage(channel, new Uint8Array(0)));
    };
    return {
      send: (bytes) => {
        for (let at = 0; at < bytes.length && !this.#closed; at += MESSAGE_BYTES_MAX)
          this.#webSocket.send(channelMessage(channel, bytes.subarray(at, at + MESSAGE_BYTES_MAX)));
        return this.#webSocket.bufferedAmount < FULL_BYTES;
      },
      // Its window bounds what comes before somebody listens.
      pause: () => undefined,
      resume: () => undefined,
      close: end,
      destroy: end,
    };
  }

  #onMessage(data: unknown): void {
    if (this.#closed) return;
    if (data instanceof ArrayBuffer) {
      this.#onBytes(new Uint8Array(data));
      return;
    }
    const frame = readFrameValue(typeof data === 'string' ? parseJsonText(data) : undefined);
    if (!deliverFrame(frame, { requests: this.#requests, screen: this.#screenListener })) this.close();
  }

  #onBytes(message: Uint8Array): void {
    if (message.length < TERMINAL_CHANNEL_HEADER_BYTES) {
      this.close();
      return;
    }
    const channel = new DataView(message.buffer, message.byteOffset).getUint32(0);
    const bytes = message.subarray(TERMINAL_CHANNEL_HEADER_BYTES);
    const lane = this.#lanes.get(channel);
    if (bytes.length > 0) lane?.push(bytes);
    else if (lane === undefined) this.#endedEarly.add(channel);
    else {
      this.#lanes.delete(channel);
      lane.end();
    }
  }

  #onClosed(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#requests.close();
    for (const lane of this.#lanes.values()) lane.end();
    this.#lanes.clear();
    for (const listener of this.#closeListeners) listener();
    this.#closeListeners.clear();
  }
}

function channelMessage(channel: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(TERMINAL_CHANNEL_HEADER_BYTES + bytes.length);
  new DataView(message.buffer).setUint32(0, channel);
  message.set(bytes, TERMINAL_CHANNEL_HEADER_BYTES);
  return message;
}

function listen(
  webSocket: WebSocketLike,
  type: 'open' | 'close' | 'error' | 'message',
  listener: (event: { readonly data?: unknown }) => void,
): () => void {
  webSocket.addEventListener(type, listener);
  return () => webSocket.removeEventListener(type, listener);
}
