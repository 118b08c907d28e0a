/** An authenticated WebSocket to a node, or to a hub that passes on to one, as a `NodeConnection`. */
import type { Duplex } from 'node:stream';
import type {
  ConnectionId,
  ControllerState,
  OperationName,
  OutputFrame,
  ParamsInput,
  Result,
  Role,
  Selection,
} from '@roost/protocol';
import WebSocket from 'ws';
import type {
  EventCursor,
  EventListener,
  NodeConnection,
  NodeLine,
  OutputListener,
  ResyncListener,
  ScreenListener,
} from './connection.ts';
import { deliverFrame } from './deliver-frame.ts';
import { OpenRequests, type RequestOptions } from './open-requests.ts';
import { bytesOf, lengthOf, readFrame } from './read-frame.ts';
import { TerminalChannels } from './terminal-channels.ts';

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
  readonly #requests: OpenRequests;
  readonly #closeListeners = new Set<() => void>();
  readonly #outputListeners = new Map<string, OutputListener>();
  #eventListener: EventListener | undefined;
  #resyncListener: ResyncListener | undefined;
  #screenListener: ScreenListener | undefined;
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
    this.#requests = new OpenRequests((message) => webSocket.send(message));
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
    options?: RequestOptions,
  ): Promise<Result<Name>> {
    return this.#requests.ask(name, params, options);
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

  #onMessage(data: WebSocket.RawData): void {
    if (this.#closed) return;
    const isTrusted = deliverFrame(readFrame(data), {
      requests: this.#requests,
      event: (event) => this.#eventListener?.(event, lengthOf(data)),
      resync: this.#resyncListener,
      screen: this.#screenListener,
      output: (frame) => this.#tellOutput(frame),
    });
    if (!isTrusted) this.#webSocket.terminate();
  }

  #onClosed(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#requests.close();
    this.#channels.close();
    for (const listener of this.#closeListeners) listener();
    this.#closeListeners.clear();
  }
}

function outputKey(sessionId: string, stream: string): string {
  return `${sessionId} ${stream}`;
}
