// One client. It can harm nobody but itself: until it has proved itself it gets little of anything; a frame that is not understood
// is answered with a failure, or ends this connection only; what it does not read is bounded.
import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import {
  ClientFrame,
  failure,
  FailureError,
  HANDSHAKE_TIMEOUT_MS,
  LONG_REQUESTS_BYTES_MAX,
  Projection,
  REQUEST_BYTES_MAX,
  Request,
  type ConnectionId,
  type ControllerState,
  type Failure,
  type NodeFrame,
  type RequestPart,
  type Role,
  type Selection,
} from '@roost/protocol';
import type { Token } from '@roost/protocol/node';
import type { Admission } from '../control/admission.ts';
import type { Caller } from '../control/handlers.ts';
import type { EventSource } from '../events/follower.ts';
import type { Log } from '@roost/storage';
import { NodeHandshake } from './handshake.ts';
import { Liveness } from './liveness.ts';
import { LongRequests, type LongRequestBudget } from './long-requests.ts';
import { Outbound } from './outbound.ts';
import { TerminalChannels } from './terminal-channels.ts';
import type { RefusalFacts, RefusalReason, Refusals } from './refusals.ts';

/** Requests of one connection that may be at work, answered at their deadline or not. */
const OPEN_REQUESTS_MAX = 256;
/**
 * Bytes of the requests of one connection that are at work, long ones apart: those have a bound for all together. Above, its next
 * request waits in the socket.
 */
const OPEN_BYTES_MAX = 4 * 1024 * 1024;
/** Milliseconds for the answer to our good-bye, and for what is sent before it. */
const GOOD_BYE_MS = 2_000;

/** WebSocket close codes. */
const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;
const POLICY_VIOLATION = 1008;
const TRY_AGAIN_LATER = 1013;

export interface ConnectionHost {
  readonly admission: Admission;
  readonly events: EventSource;
  readonly node: Selection['node'];
  readonly controller: () => ControllerState | null;
  /** The connection has ended: what it held is given back. */
  readonly released: (connectionId: ConnectionId) => void;
  readonly log: Log;
}

export interface ConnectionOptions {
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  /** What the client proves that it holds. */
  readonly token: Token;
  /** This side made the connection. */
  readonly isCall: boolean;
  readonly refusals: Refusals;
  readonly longRequests: LongRequestBudget;
  /** An id for a client that has proved itself, or null when there are as many as may be. */
  readonly enter: () => ConnectionId | null;
  readonly limit: number;
  /** Called once after `enter` gave an id: the place is free again. */
  readonly leave: () => void;
  readonly monotonicNow: () => number;
}

/** What is there once the client has proved itself. */
interface Client {
  readonly connectionId: ConnectionId;
  readonly caller: Caller;
  readonly outbound: Outbound;
  readonly terminals: TerminalChannels;
  readonly liveness: Liveness;
}

export class Connection {
  readonly #host: ConnectionHost;
  readonly #options: ConnectionOptions;
  readonly #handshake: NodeHandshake;
  readonly #abort = new AbortController();
  readonly #long: LongRequests;
  /** Requests that are not answered yet. */
  readonly #open = new Set<number>();
  /** Requests at work: a deadline answers early, but what it holds is held until the work settles. */
  #working = 0;
  #openBytes = 0;
  #client: Client | null = null;
  /** Nothing of the client is heard any more, and what it held is given back. */
  #ended = false;
  /** The deadline of the handshake, then that of the good-bye. */
  #timer: NodeJS.Timeout;

  constructor(host: ConnectionHost, options: ConnectionOptions) {
    this.#host = host;
    this.#options = options;
    this.#handshake = new NodeHandshake(options.token, host.node);
    this.#long = new LongRequests(options.longRequests, options.monotonicNow);
    this.#timer = this.#startTimer();
    // Every request at work may listen.
    setMaxListeners(OPEN_REQUESTS_MAX, this.#abort.signal);
    const { webSocket } = options;
    webSocket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.#receiveBinary(data);
      else this.#receive(data);
    });
    webSocket.on('error', (error) => this.#failed(error));
    webSocket.on('close', () => {
      this.#end();
      clearTimeout(this.#timer);
    });
  }

  get isReady(): boolean {
    return this.#client !== null;
  }

  refuse(reason: RefusalReason, because: Failure): void {
    this.#count(reason);
    this.#write({ kind: 'refused', failure: because });
    const mayTryAgain = because.code === 'connections-exhausted';
    this.#close(mayTryAgain ? TRY_AGAIN_LATER : POLICY_VIOLATION, because.code);
  }

  /** Ends waiting reads; they answer with what they have. */
  endWaits(): void {
    this.#abort.abort();
  }

  goAway(): void {
    this.#close(GOING_AWAY, 'the node stops');
  }

  /** Asked from time to time: cuts a peer off that is gone without a word, or that no longer reads. */
  checkLiveness(): void {
    if (this.#ended || this.#client === null) return;
    const fault = this.#client.liveness.check() ?? (this.#long.hasStalled ? 'long-request-stalled' : null);
    if (fault !== null) this.#cutOff(fault);
  }

  #startTimer(): NodeJS.Timeout {
    return setTimeout(() => this.#cutOff('handshake-timeout'), HANDSHAKE_TIMEOUT_MS);
  }

  #receive(data: Buffer): void {
    // What comes after we said good-bye is not done any more.
    if (this.#ended) return;
    if (this.#client === null) this.#shakeHands(data);
    else this.#serve(this.#client, data);
  }

  #receiveBinary(data: Buffer): void {
    if (this.#ended) return;
    const isTerminals = this.#client?.caller.projection.grants('terminal-relay-v1') === true;
    if (!isTerminals || this.#client?.terminals.receive(data) !== true)
      this.#violate(UNSUPPORTED_DATA, 'text frames only');
  }

  #shakeHands(data: Buffer): void {
    const step = this.#handshake.next(data);
    switch (step.kind) {
      case 'refused':
        this.refuse(step.reason, step.failure);
        return;
      case 'challenge':
        clearTimeout(this.#timer);
        this.#timer = this.#startTimer();
        this.#write(step.frame);
        return;
      case 'proved': {
        clearTimeout(this.#timer);
        const { enter, limit } = this.#options;
        const connectionId = enter();
        if (connectionId === null) {
          this.refuse('connections-exhausted', failure('connections-exhausted', { limit }));
          return;
        }
        const { role, client } = step.hello;
        const projection = new Projection(step.negotiated.capabilities);
        this.#begin({ connectionId, role, clientName: client.name, projection });
      }
    }
  }

  #begin(who: { connectionId: ConnectionId; role: Role; clientName: string; projection: Projection }): void {
    const { webSocket, socket, isCall, monotonicNow } = this.#options;
    const { events, node, controller, log } = this.#host;
    const outbound = new Outbound({
      webSocket,
      socket,
      masks: isCall,
      events,
      incarnation: node.incarnation,
      projection: who.projection,
      tooLong: () => log.error({ connectionId: who.connectionId }, 'an answer exceeds the largest frame'),
      giveUp: (reason, error) => {
        if (reason === 'answers-unread') this.#cutOff(reason);
        else {
          log.error({ err: error }, 'what a connection follows cannot be read');
          this.#close(TRY_AGAIN_LATER, 'events cannot be delivered');
        }
      },
    });
    const terminals = new TerminalChannels(webSocket);
    const caller: Caller = { ...who, lanes: outbound, terminals, signal: this.#abort.signal };
    const liveness = new Liveness({ webSocket, socket }, monotonicNow);
    const { connectionId } = who;
    this.#client = { connectionId, caller, outbound, terminals, liveness };
    this.#write({ kind: 'ready', connectionId, sequence: events.range().last, controller: controller() });
  }

  #serve(client: Client, data: Buffer): void {
    let value: unknown;
    try {
      value = JSON.parse(data.toString());
    } catch {
      this.#violate(POLICY_VIOLATION, 'not a frame of this protocol');
      return;
    }
    const frame = ClientFrame.safeParse(value).data;
    switch (frame?.kind) {
      case 'request':
        this.#accept(client, frame, { bytes: data.length, reserved: 0 });
        return;
      case 'part':
        this.#acceptPart(client, frame);
        return;
      case 'hello':
      case 'authenticate':
        this.#violate(POLICY_VIOLATION, 'the handshake is over');
        return;
      case undefined:
        this.#misunderstood(client, value);
    }
  }

  #misunderstood(client: Client, value: unknown): void {
    const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null;
    if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 && !this.#open.has(id)) {
      this.#count('protocol-violation', { detail: 'a request that cannot be read' });
      client.outbound.answer({ kind: 'failure', id, failure: failure('invalid-request') });
    } else this.#violate(POLICY_VIOLATION, 'not a frame of this protocol');
  }

  #acceptPart(client: Client, part: RequestPart): void {
    if (client.caller.role === 'observer') {
      // Whoever may only look has nothing long to say.
      this.#violate(POLICY_VIOLATION, 'an observer sends no long requests');
      return;
    }
    if (this.#open.has(part.id)) {
      this.#violate(POLICY_VIOLATION, 'that request id is in use');
      return;
    }
    const outcome = this.#long.take(part);
    switch (outcome.kind) {
      case 'more':
        return;
      case 'too-many':
        this.#violate(POLICY_VIOLATION, 'too many unfinished requests');
        return;
      case 'refused':
        this.#refuseRequest(client, part.id, {
          longRequestBytesMax: REQUEST_BYTES_MAX,
          allLongRequestsBytesMax: LONG_REQUESTS_BYTES_MAX,
        });
        return;
      case 'whole': {
        const request = parseRequest(outcome.text);
        if (request?.id === part.id) this.#accept(client, request, { bytes: 0, reserved: outcome.bytes });
        else {
          this.#options.longRequests.give(outcome.bytes);
          this.#refuseRequest(client, part.id, {});
        }
      }
    }
  }

  #refuseRequest({ outbound }: Client, id: number, details: Record<string, number>): void {
    outbound.answer({ kind: 'failure', id, failure: failure('invalid-request', details) });
  }

  /** `reserved`: bytes of the budget for long requests that it holds until it has settled. */
  #accept(client: Client, request: Request, held: { bytes: number; reserved: number }): void {
    const { webSocket, longRequests } = this.#options;
    const { bytes, reserved } = held;
    // A second request of that id could be answered only in the first one's name.
    if (this.#open.has(request.id) || this.#long.has(request.id)) {
      longRequests.give(reserved);
      this.#violate(POLICY_VIOLATION, 'that request id is in use');
      return;
    }
    if (this.#working >= OPEN_REQUESTS_MAX) {
      longRequests.give(reserved);
      this.#refuseRequest(client, request.id, { openRequestsMax: OPEN_REQUESTS_MAX });
      return;
    }
    this.#open.add(request.id);
    this.#working += 1;
    this.#openBytes += bytes;
    if (this.#openBytes > OPEN_BYTES_MAX) webSocket.pause();
    const { answer, settled } = this.#host.admission.admit(request, client.caller);
    void this.#answer(client, request.id, answer);
    void settled.then(() => {
      this.#working -= 1;
      this.#openBytes -= bytes;
      longRequests.give(reserved);
      if (webSocket.isPaused && this.#openBytes <= OPEN_BYTES_MAX) webSocket.resume();
    });
  }

  async #answer({ outbound }: Client, id: number, answer: Promise<unknown>): Promise<void> {
    let frame: Parameters<Outbound['answer']>[0];
    try {
      frame = { kind: 'response', id, result: await answer };
    } catch (error) {
      const reason = error instanceof FailureError ? error.failure : failure('internal-error');
      frame = { kind: 'failure', id, failure: reason };
    }
    this.#open.delete(id);
    outbound.answer(frame);
  }

  #failed(error: Error): void {
    // What the WebSocket layer refuses: frames that are too large, not masked, not UTF-8.
    const tooLarge = 'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
    if ('code' in error && typeof error.code === 'string' && error.code.startsWith('WS_ERR')) {
      this.#count(tooLarge ? 'frame-too-large' : 'protocol-violation', { code: error.code });
      // Nothing comes from it any more, whether or not it answers the good-bye that was said for us.
      this.#end();
    }
    this.#host.log.debug({ err: error }, 'a connection failed');
  }

  /** At the first sign that it is over, not when the peer agrees: it cannot hold on to a place or a lease by silence. */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#abort.abort();
    this.#long.close();
    if (this.#client === null) return;
    this.#client.outbound.close();
    this.#client.terminals.closeAll();
    this.#options.leave();
    this.#host.released(this.#client.connectionId);
  }

  #write(frame: NodeFrame): void {
    const { webSocket } = this.#options;
    if (webSocket.readyState === webSocket.OPEN) webSocket.send(JSON.stringify(frame));
  }

  #violate(code: number, reason: string): void {
    this.#count('protocol-violation', { detail: reason });
    this.#close(code, reason);
  }

  #count(reason: RefusalReason, facts: RefusalFacts = {}): void {
    this.#options.refusals.count(reason, { connectionId: this.#client?.connectionId, ...facts });
  }

  /** A close frame would wait behind what is not read, and keep it. */
  #cutOff(reason: RefusalReason): void {
    this.#count(reason);
    this.#options.webSocket.terminate();
    this.#end();
  }

  #close(code: number, reason: string): void {
    const { webSocket } = this.#options;
    this.#end();
    if (webSocket.readyState !== webSocket.OPEN) return;
    webSocket.close(code, reason);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => webSocket.terminate(), GOOD_BYE_MS);
  }
}

function parseRequest(text: string): Request | undefined {
  try {
    return Request.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
