// One client. It can harm nobody but itself: a frame that is not understood is answered with a failure, or ends this
// connection only; what it does not read is bounded, then it is let go.
import type { WebSocket } from 'ws';
import {
  ClientFrame,
  CLIENT_FRAME_BYTES_MAX,
  failure,
  FailureError,
  HELLO_BYTES_MAX,
  negotiate,
  PROTOCOL_MAX,
  PROTOCOL_MIN,
  type Capability,
  type Failure,
  type Hello,
  type NodeFrame,
  type Request,
  type Welcome,
} from '@roost/protocol';
import type { Admission } from '../control/admission.ts';
import type { Caller } from '../control/handlers.ts';
import { EventFollower, type EventSource } from '../events/follower.ts';
import type { Log } from '../log.ts';

/** Bytes that a client may leave unread before it is let go: answers, then events (which it can read again). */
const UNREAD_ANSWER_BYTES_MAX = 32 * 1024 * 1024;
/** Requests of one connection that may be at work, answered at their deadline or not. */
const OPEN_REQUESTS_MAX = 256;
/** Bytes of the requests of one connection that are at work; above, its next request waits in the socket. */
const OPEN_BYTES_MAX = 2 * CLIENT_FRAME_BYTES_MAX;

/** WebSocket close codes. */
const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;
const POLICY_VIOLATION = 1008;
const TRY_AGAIN_LATER = 1013;

export interface ConnectionHost {
  readonly admission: Admission;
  readonly events: EventSource;
  readonly node: Welcome['node'];
  readonly log: Log;
}

export class Connection implements Caller {
  readonly #host: ConnectionHost;
  readonly #socket: WebSocket;
  readonly #abort = new AbortController();
  /** Requests that are not answered yet. */
  readonly #open = new Set<number>();
  /** Requests at work: a deadline answers early, but what it holds is held until the work settles. */
  #working = 0;
  #openBytes = 0;
  #capabilities: readonly Capability[] | null = null;
  #follower: EventFollower | null = null;

  constructor(host: ConnectionHost, socket: WebSocket) {
    this.#host = host;
    this.#socket = socket;
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.#close(UNSUPPORTED_DATA, 'text frames only');
      else this.#receive(data);
    });
    socket.on('error', (error) => host.log.debug({ err: error }, 'a connection failed'));
    socket.on('close', () => {
      this.#follower?.stop();
      this.#abort.abort();
    });
  }

  get capabilities(): readonly Capability[] {
    return this.#capabilities ?? [];
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** True once hello and welcome have passed. */
  get welcomed(): boolean {
    return this.#capabilities !== null;
  }

  followEvents(after: number): void {
    this.#follower?.stop();
    this.#follower = new EventFollower(this.#host.events, after, {
      send: (event, sent) =>
        this.#socket.send(JSON.stringify({ kind: 'event', event } satisfies NodeFrame), sent),
      unreadBytes: () => this.#socket.bufferedAmount,
      giveUp: () => this.#close(TRY_AGAIN_LATER, 'events cannot be delivered'),
    });
  }

  refuse(reason: Failure): void {
    this.#send({ kind: 'refused', failure: reason });
    this.#close(POLICY_VIOLATION, reason.code);
  }

  /** Ends waiting reads; they answer with what they have. */
  endWaits(): void {
    this.#abort.abort();
  }

  goAway(): void {
    this.#close(GOING_AWAY, 'the node stops');
  }

  #receive(data: Buffer): void {
    // What comes after we said good-bye is not done any more.
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#capabilities === null && data.length > HELLO_BYTES_MAX) {
      this.refuse(failure('invalid-request'));
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(data.toString());
    } catch {
      this.#misunderstood(null);
      return;
    }
    const frame = ClientFrame.safeParse(value);
    if (!frame.success) this.#misunderstood(value);
    else if (frame.data.kind === 'hello') this.#greet(frame.data);
    else if (this.#capabilities === null) this.refuse(failure('invalid-request'));
    else this.#accept(frame.data, data.length);
  }

  #greet(hello: Hello): void {
    if (this.#capabilities !== null) {
      this.#close(POLICY_VIOLATION, 'hello was said already');
      return;
    }
    const negotiated = negotiate(hello);
    if (negotiated === null) {
      this.refuse(failure('unsupported-protocol', { min: PROTOCOL_MIN, max: PROTOCOL_MAX }));
      return;
    }
    this.#capabilities = negotiated.capabilities;
    this.#send({
      kind: 'welcome',
      protocol: negotiated.protocol,
      capabilities: [...negotiated.capabilities],
      node: this.#host.node,
    });
  }

  #misunderstood(value: unknown): void {
    if (!this.welcomed) {
      this.refuse(failure('invalid-request'));
      return;
    }
    const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null;
    if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 && !this.#open.has(id)) {
      this.#send({ kind: 'failure', id, failure: failure('invalid-request') });
    } else this.#close(POLICY_VIOLATION, 'not a frame of this protocol');
  }

  #accept(request: Request, bytes: number): void {
    // A second request of that id could be answered only in the first one's name.
    if (this.#open.has(request.id)) {
      this.#close(POLICY_VIOLATION, 'that request id is in use');
      return;
    }
    if (this.#working >= OPEN_REQUESTS_MAX) {
      this.#send({
        kind: 'failure',
        id: request.id,
        failure: failure('invalid-request', { openRequestsMax: OPEN_REQUESTS_MAX }),
      });
      return;
    }
    this.#open.add(request.id);
    this.#working += 1;
    this.#openBytes += bytes;
    if (this.#openBytes > OPEN_BYTES_MAX) this.#socket.pause();
    const { answer, settled } = this.#host.admission.admit(request, this);
    void this.#answer(request.id, answer);
    void settled.then(() => {
      this.#working -= 1;
      this.#openBytes -= bytes;
      if (this.#socket.isPaused && this.#openBytes <= OPEN_BYTES_MAX) this.#socket.resume();
    });
  }

  async #answer(id: number, answer: Promise<unknown>): Promise<void> {
    let frame: NodeFrame;
    try {
      frame = { kind: 'response', id, result: await answer };
    } catch (error) {
      const reason = error instanceof FailureError ? error.failure : failure('internal-error');
      frame = { kind: 'failure', id, failure: reason };
    }
    this.#open.delete(id);
    this.#send(frame);
  }

  #send(frame: NodeFrame): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(JSON.stringify(frame));
    if (this.#socket.bufferedAmount > UNREAD_ANSWER_BYTES_MAX) {
      this.#host.log.debug('cutting a connection off whose answers were not read');
      // A close frame would wait behind what is not read, and keep it.
      this.#socket.terminate();
    }
  }

  /** A peer that does not read its close frame is cut off by the socket's own close timeout. */
  #close(code: number, reason: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#host.log.debug({ code, reason }, 'closing a connection');
    this.#follower?.stop();
    this.#socket.close(code, reason);
  }
}
