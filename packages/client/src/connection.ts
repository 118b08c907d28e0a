/**
 * One authenticated line to a node: hello and welcome, requests with typed results, events. Every open request ends
 * exactly once: by its answer, its deadline, its signal, or the loss of the connection.
 */
import {
  CAPABILITIES,
  FailureError,
  NODE_FRAME_BYTES_MAX,
  NodeFrame,
  OPERATIONS,
  PROTOCOL_MAX,
  PROTOCOL_MIN,
  UnknownEventFrame,
  type Hello,
  type NodeEvent,
  type OperationName,
  type ParamsInput,
  type Result,
  type UnknownEvent,
  type Welcome,
} from '@roost/protocol';
import WebSocket from 'ws';
import { assertSocketPath, meansNobodyListens, systemCode } from './open-socket.ts';
import { createConnection } from 'node:net';

/** Milliseconds that a node may take to say welcome before it counts as hanging. */
export const WELCOME_TIMEOUT_MS = 3_000;
/** Milliseconds that a request may take unless it names its own deadline. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Compiling a schema costs more than a command's few answers gain by it. */
const ONE_SHOT = { jitless: true };

export interface ConnectOptions {
  readonly socketPath: string;
  /** Milliseconds until the welcome. */
  readonly timeoutMs?: number;
  readonly client: Hello['client'];
}

export interface RequestOptions {
  /** Milliseconds; the request then fails with `request-timed-out`, but may still land. */
  readonly timeoutMs?: number;
  /** Stops waiting; like the deadline, it does not take the request back. */
  readonly signal?: AbortSignal;
}

type EventListener = (event: NodeEvent | UnknownEvent) => void;

export interface NodeConnection {
  readonly node: Welcome['node'];
  readonly capabilities: readonly string[];
  /** Rejects with `FailureError` on every refusal; with the reason of `signal` when that aborts. */
  request<Name extends OperationName>(
    name: Name,
    params: ParamsInput<Name>,
    options?: RequestOptions,
  ): Promise<Result<Name>>;
  /**
   * Sends the listener every event after a sequence, in order, as long as the connection lives. One subscription a
   * connection. Answers the last sequence that the journal held at that moment.
   */
  subscribeEvents(after: number, listener: EventListener): Promise<{ last: number }>;
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

/** Connects and shakes hands. Fails with `node-not-running` when nobody listens, `node-unresponsive` when nobody answers. */
export async function connectNode(options: ConnectOptions): Promise<NodeConnection> {
  const { socketPath, client, timeoutMs = WELCOME_TIMEOUT_MS } = options;
  assertSocketPath(socketPath);
  // The path goes to the socket itself: in a URL it would have to be free of `:`, `%`, `?`.
  const webSocket = new WebSocket('ws://localhost/', {
    perMessageDeflate: false,
    maxPayload: NODE_FRAME_BYTES_MAX,
    createConnection: () => createConnection(socketPath),
  });
  const welcome = await shakeHands(webSocket, socketPath, client, timeoutMs);
  return new OpenConnection(webSocket, welcome);
}

function shakeHands(
  webSocket: WebSocket,
  socketPath: string,
  client: Hello['client'],
  timeoutMs: number,
): Promise<Welcome> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      webSocket.off('message', onMessage);
      webSocket.off('close', onClose);
      // 'error' stays: terminating a socket that is still connecting emits one more.
    };
    const fail = (error: unknown): void => {
      stop();
      webSocket.terminate();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const timer = setTimeout(
      () => fail(new FailureError('node-unresponsive', { socket: socketPath })),
      timeoutMs,
    );
    const onMessage = (data: WebSocket.RawData): void => {
      const frame = parseFrame(data);
      if (frame?.kind === 'welcome') {
        stop();
        // No further message may be read before the connection listens.
        resolve(frame);
      } else if (frame?.kind === 'refused') fail(FailureError.from(frame.failure));
      else fail(new FailureError('unsupported-protocol'));
    };
    const onClose = (): void => fail(new FailureError('connection-lost'));
    webSocket.on('error', (error) => fail(connectFailure(error, socketPath)));
    webSocket.on('message', onMessage);
    webSocket.on('close', onClose);
    webSocket.once('open', () => {
      const hello: Hello = {
        kind: 'hello',
        protocol: { min: PROTOCOL_MIN, max: PROTOCOL_MAX },
        capabilities: [...CAPABILITIES],
        client,
      };
      webSocket.send(JSON.stringify(hello));
    });
  });
}

function connectFailure(error: unknown, socketPath: string): FailureError {
  if (meansNobodyListens(error))
    return new FailureError('node-not-running', { socket: socketPath }, { cause: error });
  const code = systemCode(error);
  if (code === 'EACCES' || code === 'EPERM') {
    return new FailureError('home-unusable', { socket: socketPath, reason: code }, { cause: error });
  }
  return new FailureError('connection-lost', { socket: socketPath }, { cause: error });
}

function parseFrame(data: WebSocket.RawData): NodeFrame | UnknownEventFrame | undefined {
  let value: unknown;
  try {
    const bytes = Array.isArray(data)
      ? Buffer.concat(data)
      : data instanceof ArrayBuffer
        ? Buffer.from(data)
        : data;
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
  return NodeFrame.safeParse(value, ONE_SHOT).data ?? UnknownEventFrame.safeParse(value, ONE_SHOT).data;
}

class OpenConnection implements NodeConnection {
  readonly node: Welcome['node'];
  readonly capabilities: readonly string[];
  readonly #webSocket: WebSocket;
  readonly #requests = new Map<number, OpenRequest>();
  readonly #closeListeners = new Set<() => void>();
  #eventListener: EventListener | undefined;
  #nextId = 1;
  #closed = false;

  constructor(webSocket: WebSocket, welcome: Welcome) {
    this.node = welcome.node;
    this.capabilities = welcome.capabilities;
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
      const settle: OpenRequest['settle'] = (outcome) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#requests.delete(id);
        if ('error' in outcome) {
          reject(outcome.error instanceof Error ? outcome.error : new Error(String(outcome.error)));
          return;
        }
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
      this.#webSocket.send(
        JSON.stringify({
          kind: 'request',
          id,
          operation: name,
          params,
          deadlineMs: Math.max(1, Math.ceil(timeoutMs)),
        }),
      );
    });
  }

  async subscribeEvents(after: number, listener: EventListener): Promise<{ last: number }> {
    // Events may overtake the answer.
    this.#eventListener = listener;
    return this.request('events.subscribe', { after });
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

  #onMessage(data: WebSocket.RawData): void {
    if (this.#closed) return;
    const frame = parseFrame(data);
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
      case 'welcome':
      case 'refused':
      case undefined:
        // Not a node of this protocol any more: nothing that follows can be trusted.
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

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error
    ? signal.reason
    : new DOMException('The request was aborted.', 'AbortError');
}
