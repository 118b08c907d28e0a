// WebSockets: events, lines to a node, and nodes that call home. Who may have one is decided before it is one: a refusal is an HTTP answer.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { randomBytes } from 'node:crypto';
import { WebSocketServer, type WebSocket } from 'ws';
import {
  API_PREFIX,
  CALL_HOME_CHANNEL_HEADER,
  CALL_HOME_NODE_HEADER,
  CALL_HOME_PATH,
  CLIENT_FRAME_BYTES_MAX,
  FAILURE_CODES,
  FailureError,
  HANDSHAKE_FRAME_BYTES_MAX,
  HUB_EVENTS_SOCKET_PATH,
  NODE_FRAME_BYTES_MAX,
  NodeId,
  parseCursor,
  REQUEST_ID_HEADER,
  type FailureCode,
} from '@roost/protocol';
import type { Principal } from '../access/principal.ts';
import type { RelayAudit } from '../fleet/fleet.ts';
import { authenticateRequest, factsOf, peerOf, requireOwnPlace } from './authenticate-request.ts';
import { CallHomeSlots } from './call-home-slots.ts';
import type { HubContext } from './context.ts';
import { EventFeed } from './event-feed.ts';
import { socketSink } from './event-socket.ts';
import { findNode } from './find-node.ts';
import { expectedFailure, HttpFailure, PROBLEM_TYPE, problemOf } from './problem.ts';
import { guardBrowser } from './request-guard.ts';

/** Bytes of a message of a client that only listens. */
const LISTENER_BYTES_MAX = 1_024;
const CONNECT = new RegExp(`^${API_PREFIX}/nodes/([^/]{1,64})/connect$`);
const CHANNEL = /^[0-9a-f]{32}$/;
/** Milliseconds in which a client has to take a refusal. */
const REFUSAL_MS = 2_000;
/** Bytes of a call until it has proved itself: both frames, and what is around them. */
const PROOF_BYTES_MAX = 3 * HANDSHAKE_FRAME_BYTES_MAX;

/** What an upgrade becomes. */
interface Line {
  readonly name: 'events' | 'relay' | 'call-home';
  readonly frameBytesMax: number;
  /** `socket`: what it writes to. */
  readonly begin: (webSocket: WebSocket, socket: Duplex) => void;
}

export class Upgrades {
  readonly #context: HubContext;
  readonly #slots: CallHomeSlots;
  readonly #servers = new Map<number, WebSocketServer>();

  constructor(context: HubContext) {
    this.#context = context;
    this.#slots = new CallHomeSlots(context.monotonicNow);
  }

  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const requestId = randomBytes(8).toString('hex');
    const { metrics, log } = this.#context;
    let line: Line;
    try {
      line = this.#decide(request, requestId);
    } catch (error) {
      const expected = expectedFailure(error);
      if (expected === null) log.error({ err: error, requestId }, 'an upgrade failed');
      metrics.upgraded('refused', expected?.failure.code ?? 'internal-error');
      refuse(socket, error, requestId);
      return;
    }
    this.#serverOf(line.frameBytesMax).handleUpgrade(request, socket, head, (webSocket) => {
      metrics.upgraded(line.name, 'opened');
      // Errors of a WebSocket close it; nobody has to hear of them.
      webSocket.on('error', () => undefined);
      line.begin(webSocket, socket);
    });
  }

  /** @throws FailureError */
  #decide(request: IncomingMessage, requestId: string): Line {
    const { context } = { context: this.#context };
    requireOwnPlace(context, request);
    if (context.isStopping()) throw new FailureError('shutting-down');
    const [path = '', query] = (request.url ?? '').split('?', 2);
    if (path === CALL_HOME_PATH) return this.#callHome(request);
    const connect = CONNECT.exec(path);
    if (path !== HUB_EVENTS_SOCKET_PATH && connect === null) throw new HttpFailure(404, 'unknown-operation');
    const principal = authenticateRequest(context, request);
    if (principal === null) throw new FailureError('unauthenticated');
    if (principal.credential.kind === 'cookie') {
      const refusal = guardBrowser(factsOf(request), context.place(), 'upgrade');
      if (refusal !== null) throw FailureError.from(refusal);
    }
    context.lines.requirePlace(principal);
    return connect === null
      ? this.#events(principal, new URLSearchParams(query).get('after'))
      : this.#relay(request, principal, { selector: decode(connect[1] ?? ''), requestId });
  }

  #events(principal: Principal, after: string | null): Line {
    const { fleet, lines, monotonicNow } = this.#context;
    const cursor = after === null ? null : parseCursor(after);
    if (after !== null && cursor === null) throw new FailureError('invalid-request', { field: 'after' });
    const begin = (webSocket: WebSocket, socket: Duplex) => {
      let isAlive = true;
      const sink = socketSink({ webSocket, socket }, () => feed.drained());
      const feed: EventFeed = new EventFeed({ fleet, principal, monotonicNow }, cursor, sink);
      webSocket.on('pong', () => (isAlive = true));
      // It only listens.
      webSocket.on('message', () => webSocket.close(1008, 'invalid-request'));
      const check = () => {
        if (!isAlive || feed.isStalled) {
          webSocket.terminate();
          return;
        }
        isAlive = false;
        webSocket.ping();
        feed.alive();
      };
      const end = (why: string) => closeSoon(webSocket, why);
      const ended = lines.add({ principal, end, check });
      webSocket.once('close', () => {
        ended();
        feed.close();
      });
    };
    return { name: 'events', frameBytesMax: LISTENER_BYTES_MAX, begin };
  }

  #relay(
    request: IncomingMessage,
    principal: Principal,
    { selector, requestId }: { selector: string; requestId: string },
  ): Line {
    const { fleet, lines } = this.#context;
    const node = findNode(fleet, selector, principal);
    const audit = this.#auditOf(principal, { nodeId: node.id, from: peerOf(request), requestId });
    const begin = (webSocket: WebSocket) => {
      const ended = lines.add({ principal, end: (why) => closeSoon(webSocket, why) });
      webSocket.once('close', ended);
      fleet.relay(node.id, webSocket, principal, audit);
    };
    return { name: 'relay', frameBytesMax: CLIENT_FRAME_BYTES_MAX, begin };
  }

  /** Each request of a line has an id of its own, which begins with that of the line. */
  #auditOf(actor: Principal, line: { nodeId: NodeId; from: string; requestId: string }): RelayAudit {
    const { audit } = this.#context;
    let count = 0;
    return {
      asked: ({ operation, params }) => {
        count += 1;
        const requestId = `${line.requestId}-${count}`;
        const answered = audit.asked({ ...line, requestId, actor, operation, params });
        return (outcome) =>
          answered(outcome === 'done' || isFailureCode(outcome) ? outcome : 'internal-error');
      },
    };
  }

  /** Nobody is known yet: the node proves itself on the line. */
  #callHome(request: IncomingMessage): Line {
    const { fleet } = this.#context;
    const { [CALL_HOME_NODE_HEADER]: node, [CALL_HOME_CHANNEL_HEADER]: channel, origin } = request.headers;
    if (origin !== undefined) throw new FailureError('origin-refused');
    const nodeId = NodeId.safeParse(node);
    const isChannel = channel === undefined || (typeof channel === 'string' && CHANNEL.test(channel));
    if (!nodeId.success || !isChannel)
      throw new FailureError('invalid-request', { field: CALL_HOME_NODE_HEADER });
    const called = fleet.find(nodeId.data);
    if (called.id !== nodeId.data || called.way !== 'calls-home') throw new FailureError('unknown-node');
    const asked = typeof channel === 'string' ? channel : null;
    // One that we asked for is known by its channel, and takes no place of those that nobody knows.
    const isAwaited = asked !== null && fleet.awaitsCall(nodeId.data, asked);
    const freed = isAwaited ? () => undefined : this.#slots.take(nodeId.data);
    const begin = (webSocket: WebSocket) => {
      const proved = boundProof(request.socket);
      webSocket.once('close', freed);
      fleet.calledHome(nodeId.data, asked, webSocket, () => {
        freed();
        proved();
      });
    };
    return { name: 'call-home', frameBytesMax: NODE_FRAME_BYTES_MAX, begin };
  }

  #serverOf(maxPayload: number): WebSocketServer {
    const known = this.#servers.get(maxPayload);
    if (known !== undefined) return known;
    const server = new WebSocketServer({
      noServer: true,
      maxPayload,
      perMessageDeflate: false,
      clientTracking: false,
    });
    this.#servers.set(maxPayload, server);
    return server;
  }
}

function refuse(socket: Duplex, error: unknown, requestId: string): void {
  const expected = expectedFailure(error) ?? expectedFailure(new FailureError('internal-error'));
  if (expected === null) return;
  const body = JSON.stringify(problemOf(expected.failure, requestId, expected.status));
  const head = [
    `HTTP/1.1 ${expected.status} Refused`,
    'Connection: close',
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `${REQUEST_ID_HEADER}: ${requestId}`,
    'Cache-Control: no-store',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), REFUSAL_MS).unref();
}

/** Until it has proved itself, a peer gets little memory. Answers how to say that it has. */
function boundProof(socket: Socket): () => void {
  const start = socket.bytesRead;
  const onData = () => {
    if (socket.bytesRead - start > PROOF_BYTES_MAX) socket.destroy();
  };
  socket.on('data', onData);
  return () => void socket.off('data', onData);
}

/** Whoever does not say good-bye in time is cut off. */
function closeSoon(webSocket: WebSocket, why: string): void {
  webSocket.close(why === 'shutting-down' ? 1001 : 1008, why);
  setTimeout(() => webSocket.terminate(), REFUSAL_MS).unref();
}

/** @throws FailureError: invalid-request. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new FailureError('invalid-request', { field: 'node' });
  }
}

function isFailureCode(code: string): code is FailureCode {
  return (FAILURE_CODES as readonly string[]).includes(code);
}
