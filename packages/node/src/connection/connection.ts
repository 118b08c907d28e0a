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
import type { Log } from '../log.ts';
import { NodeHandshake } from './handshake.ts';
import { LongRequests, type LongRequestBudget } from './long-requests.ts';
import { Outbound } from './outbound.ts';
import type { RefusalReason, Refusals } from './refusals.ts';

/** Requests of one connection that may be at work, answered at their deadline or not. */
const OPEN_REQUESTS_MAX = 256;
/** Bytes of the requests of one connection that are at work; above, its next request waits in the socket. */
const OPEN_BYTES_MAX = 2 * REQUEST_BYTES_MAX;
/** Milliseconds in which a client that reads has read something. */
const WRITE_DEADLINE_MS = 20_000;

/** WebSocket close codes. */
const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;
const POLICY_VIOLATION = 1008;
const TRY_AGAIN_LATER = 1013;

export interface ConnectionHost {
  readonly admission: Admission;
  readonly events: EventSource;
  readonly node: Selection['node'];
  readonly token: Token;
  readonly controller: () => ControllerState | null;
  /** The connection has ended: what it held is given back. */
  readonly released: (connectionId: ConnectionId) => void;
  readonly log: Log;
}

export interface ConnectionOptions {
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  readonly refusals: Refusals;
  readonly longRequests: LongRequestBudget;
  /** An id for a client that has proved itself, or null when there are as many as may be. */
  readonly enter: () => ConnectionId | null;
  readonly monotonicNow: () => number;
}

/** What is there once the client has proved itself. */
interface Session {
  readonly connectionId: ConnectionId;
  readonly caller: Caller;
  readonly outbound: Outbound;
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
  #session: Session | null = null;
  #ending = false;
  #timer: NodeJS.Timeout;
  #awaitsPong = false;
  #written = { bytes: 0, at: 0 };

  constructor(host: ConnectionHost, options: ConnectionOptions) {
    this.#host = host;
    this.#options = options;
    this.#handshake = new NodeHandshake(host.token, host.node);
    this.#long = new LongRequests(options.longRequests);
    this.#timer = this.#startTimer();
    // Every request at work may listen.
    setMaxListeners(OPEN_REQUESTS_MAX, this.#abort.signal);
    const { webSocket } = options;
    webSocket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.#violate(UNSUPPORTED_DATA, 'text frames only');
      else this.#receive(data);
    });
    webSocket.on('error', (error) => this.#failed(error));
    webSocket.on('pong', () => (this.#awaitsPong = false));
    webSocket.on('close', () => this.#closed());
  }

  get isReady(): boolean {
    return this.#session !== null;
  }

  refuse(reason: RefusalReason, because: Failure): void {
    this.#options.refusals.count(reason);
    this.#write({ kind: 'refused', failure: because });
    this.#close(POLICY_VIOLATION, because.code);
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
    const { webSocket, socket, monotonicNow } = this.#options;
    if (webSocket.readyState !== webSocket.OPEN || this.#session === null) return;
    const bytes = socket.bytesWritten - socket.writableLength;
    const now = monotonicNow();
    if (bytes !== this.#written.bytes || socket.writableLength === 0) this.#written = { bytes, at: now };
    if (now - this.#written.at >= WRITE_DEADLINE_MS) {
      this.#cutOff('write-deadline');
      return;
    }
    if (this.#awaitsPong) {
      this.#cutOff('no-pong');
      return;
    }
    this.#awaitsPong = true;
    webSocket.ping();
  }

  #startTimer(): NodeJS.Timeout {
    return setTimeout(() => this.#cutOff('handshake-timeout'), HANDSHAKE_TIMEOUT_MS);
  }

  #receive(data: Buffer): void {
    // What comes after we said good-bye is not done any more.
    if (this.#ending) return;
    if (this.#session === null) this.#shakeHands(data);
    else this.#serve(this.#session, data);
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
        const connectionId = this.#options.enter();
        if (connectionId === null) {
          this.refuse('connections-exhausted', failure('connections-exhausted'));
          return;
        }
        const { role, client } = step.hello;
        const projection = new Projection(step.negotiated.capabilities);
        this.#begin({ connectionId, role, clientName: client.name, projection });
      }
    }
  }

  #begin(who: { connectionId: ConnectionId; role: Role; clientName: string; projection: Projection }): void {
    const { webSocket, socket, monotonicNow } = this.#options;
    const { events, node, controller, log } = this.#host;
    const outbound = new Outbound({
      webSocket,
      socket,
      events,
      incarnation: node.incarnation,
      projection: who.projection,
      giveUp: (reason, error) => {
        if (reason === 'answers-unread') this.#cutOff(reason);
        else {
          log.error({ err: error }, 'what a connection follows cannot be read');
          this.#close(TRY_AGAIN_LATER, 'events cannot be delivered');
        }
      },
    });
    const caller: Caller = { ...who, lanes: outbound, signal: this.#abort.signal };
    this.#session = { connectionId: who.connectionId, caller, outbound };
    this.#written = { bytes: 0, at: monotonicNow() };
    const { connectionId } = who;
    this.#write({ kind: 'ready', connectionId, sequence: events.range().last, controller: controller() });
  }

  #serve(session: Session, data: Buffer): void {
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
        this.#accept(session, frame, data.length, 0);
        return;
      case 'part':
        this.#acceptPart(session, frame);
        return;
      case 'hello':
      case 'authenticate':
        this.#violate(POLICY_VIOLATION, 'the handshake is over');
        return;
      case undefined:
        this.#misunderstood(session, value);
    }
  }

  #misunderstood(session: Session, value: unknown): void {
    const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null;
    if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 && !this.#open.has(id)) {
      this.#options.refusals.count('protocol-violation', { connectionId: session.connectionId });
      session.outbound.answer({ kind: 'failure', id, failure: failure('invalid-request') });
    } else this.#violate(POLICY_VIOLATION, 'not a frame of this protocol');
  }

  #acceptPart(session: Session, part: RequestPart): void {
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
        this.#refuseRequest(session, part.id, {
          longRequestBytesMax: REQUEST_BYTES_MAX,
          allLongRequestsBytesMax: LONG_REQUESTS_BYTES_MAX,
        });
        return;
      case 'whole': {
        const request = parseRequest(outcome.text);
        if (request?.id === part.id) this.#accept(session, request, outcome.bytes, outcome.bytes);
        else {
          this.#options.longRequests.give(outcome.bytes);
          this.#refuseRequest(session, part.id, {});
        }
      }
    }
  }

  #refuseRequest({ outbound }: Session, id: number, details: Record<string, number>): void {
    outbound.answer({ kind: 'failure', id, failure: failure('invalid-request', details) });
  }

  /** `reserved`: bytes of the budget for long requests that it holds until it has settled. */
  #accept(session: Session, request: Request, bytes: number, reserved: number): void {
    const { webSocket, longRequests } = this.#options;
    // A second request of that id could be answered only in the first one's name.
    if (this.#open.has(request.id) || this.#long.has(request.id)) {
      longRequests.give(reserved);
      this.#violate(POLICY_VIOLATION, 'that request id is in use');
      return;
    }
    if (this.#working >= OPEN_REQUESTS_MAX) {
      longRequests.give(reserved);
      this.#refuseRequest(session, request.id, { openRequestsMax: OPEN_REQUESTS_MAX });
      return;
    }
    this.#open.add(request.id);
    this.#working += 1;
    this.#openBytes += bytes;
    if (this.#openBytes > OPEN_BYTES_MAX) webSocket.pause();
    const { answer, settled } = this.#host.admission.admit(request, session.caller);
    void this.#answer(session, request.id, answer);
    void settled.then(() => {
      this.#working -= 1;
      this.#openBytes -= bytes;
      longRequests.give(reserved);
      if (webSocket.isPaused && this.#openBytes <= OPEN_BYTES_MAX) webSocket.resume();
    });
  }

  async #answer({ outbound }: Session, id: number, answer: Promise<unknown>): Promise<void> {
    let frame: NodeFrame;
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
      this.#options.refusals.count(tooLarge ? 'frame-too-large' : 'protocol-violation');
    }
    this.#host.log.debug({ err: error }, 'a connection failed');
  }

  #closed(): void {
    clearTimeout(this.#timer);
    this.#ending = true;
    this.#long.close();
    this.#session?.outbound.close();
    this.#abort.abort();
    if (this.#session !== null) this.#host.released(this.#session.connectionId);
  }

  #write(frame: NodeFrame): void {
    const { webSocket } = this.#options;
    if (webSocket.readyState === webSocket.OPEN) webSocket.send(JSON.stringify(frame));
  }

  #violate(code: number, reason: string): void {
    this.#options.refusals.count('protocol-violation', { detail: reason });
    this.#close(code, reason);
  }

  /** A close frame would wait behind what is not read, and keep it. */
  #cutOff(reason: RefusalReason): void {
    this.#options.refusals.count(reason, { connectionId: this.#session?.connectionId });
    this.#ending = true;
    this.#options.webSocket.terminate();
  }

  /** A peer that does not read its close frame is cut off by the WebSocket's own close timeout. */
  #close(code: number, reason: string): void {
    const { webSocket } = this.#options;
    this.#ending = true;
    this.#session?.outbound.close();
    if (webSocket.readyState === webSocket.OPEN) webSocket.close(code, reason);
  }
}

function parseRequest(text: string): Request | undefined {
  try {
    return Request.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
