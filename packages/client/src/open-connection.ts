/** An authenticated WebSocket to a node, or to a hub that passes on to one, as a `NodeConnection`. */
import type { Duplex } from 'node:stream';
import {
  FailureError,
  OPERATIONS,
  type ConnectionId,
  type ControllerState,
  type OperationName,
  type OutputFrame,
  type ParamsInput,
  type Request,
  type Result,
  type Role,
  type Selection,
} from '@roost/protocol';
import WebSocket from 'ws';
import type {
  EventCursor,
  EventListener,
  NodeConnection,
  NodeLine,
  OutputListener,
  RequestOptions,
  ResyncListener,
  ScreenListener,
} from './connection.ts';
import { bytesOf, ONE_SHOT, readFrame } from './read-frame.ts';
import { requestMessages } from './request-messages.ts';
import { TerminalChannels } from './terminal-channels.ts';

/** Milliseconds that a request may take unless it names its own deadline. */
const REQUEST_TIMEOUT_MS = 30_000;

interface OpenRequest {
  settle(frame: { result: unknown } | { error: unknown }): void;
}

export interface ConnectionFacts {
  readonly role: Role;
  readonly isLocal: boolean;
}

export class OpenConnection implements NodeConnection {
  readonly node: Selection['node'];
  readonly protocol: number;
  readonly capabilities: readonly string[];
  readonly role: Role;
  readonly connectionId: ConnectionId;
  readonly sequence: number;
  readonly controller: ControllerState | null;
  readonly isLocal: boolean;
  readonly #channels: TerminalChannels;
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

  constructor({ webSocket, selection, ready }: NodeLine, { role, isLocal }: ConnectionFacts) {
    this.node = selection.node;
    this.protocol = selection.protocol;
    this.capabilities = selection.capabilities;
    this.role = role;
    this.connectionId = ready.connectionId;
    this.sequence = ready.sequence;
    this.controller = ready.controller;
    this.isLocal = isLocal;
    this.#channels = new TerminalChannels(webSocket);
    this.#webSocket = webSocket;
    webSocket.removeAllListeners('error');
    webSocket.on('error', () => webSocket.terminate());
    webSocket.on('close', () => this.#onClosed());
    webSocket.on('message', (data, isBinary) => {
      if (isBinary) this.#channels.receive(bytesOf(data));
      else this.#onMessage(data);
    });
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

  async openTerminal(
    params: ParamsInput<'terminal.open'>,
  ): Promise<{ readonly ticket: string; readonly lane: Duplex }> {
    const { channel, ticket } = await this.request('terminal.open', params);
    return { ticket, lane: this.#channels.open(channel) };
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
    this.#channels.close();
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
