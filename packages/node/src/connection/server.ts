// Where clients come in: WebSocket over a Unix socket that only its owner can open, and over a loopback port when the configuration
// asks for one. The socket's path may be taken away under a running node; then the node listens again, and whoever is connected
// stays connected. An error of accepting ends nothing.
import { chmodSync, lstatSync, rmSync, watch, type FSWatcher } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type Server as HttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { basename, dirname } from 'node:path';
import { WebSocketServer, type WebSocket } from 'ws';
import {
  CLIENT_FRAME_BYTES_MAX,
  ConnectionId,
  FailureError,
  HANDSHAKE_FRAME_BYTES_MAX,
  HANDSHAKE_TIMEOUT_MS,
  type NodeStatus,
} from '@roost/protocol';
import { systemErrorCode } from '@roost/storage';
import type { Token } from '@roost/protocol/node';
import { Connection, type ConnectionHost, type ConnectionOptions } from './connection.ts';
import { LongRequestBudget } from './long-requests.ts';
import { PreauthSlots } from './preauth-slots.ts';
import { Refusals, type RefusalReason } from './refusals.ts';

/** Milliseconds between looks at the socket file. */
const WATCH_MS = 2_000;
/** Milliseconds between looks at who is still there: a part of the deadlines that are looked at. */
const LIVENESS_MS = 5_000;

/** Connections of all hubs together: each client of a hub that works with this node has one. */
const CALLS_MAX = 256;

export interface ServerOptions {
  readonly path: string;
  /** Of the clients that connect. */
  readonly token: Token;
  readonly listen: { readonly host: string; readonly port: number } | null;
  /** Connections that have proved themselves, at most. */
  readonly connectionsMax: number;
  readonly livenessMs?: number;
  readonly monotonicNow?: () => number;
}

export interface Call {
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  /** What both sides prove that they hold. */
  readonly token: Token;
  /** Told once: whether the other side proved it, or the call has ended before. */
  readonly proved: (isProved: boolean) => void;
}

export class ConnectionServer {
  readonly #options: ServerOptions;
  readonly #host: ConnectionHost;
  readonly #refusals: Refusals;
  /** Of the socket, and of the loopback port. */
  readonly #slots: { readonly local: PreauthSlots; readonly loopback: PreauthSlots };
  readonly #monotonicNow: () => number;
  readonly #longRequests = new LongRequestBudget();
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: CLIENT_FRAME_BYTES_MAX,
    perMessageDeflate: false,
  });
  /** Speaks HTTP on sockets that have a place; listens nowhere itself. */
  readonly #http: HttpServer;
  readonly #connections = new Map<WebSocket, Connection>();
  readonly #upgradeTimers = new WeakMap<Socket, NodeJS.Timeout>();
  readonly #slotsOf = new WeakMap<Socket, PreauthSlots>();
  #ready = 0;
  #calls = 0;
  #stopping = false;
  #nextId = 1;
  #server: Server | null = null;
  #loopback: Server | null = null;
  #inode: number | null = null;
  #timers: NodeJS.Timeout[] = [];
  #watcher: FSWatcher | null = null;

  constructor(options: ServerOptions, host: ConnectionHost) {
    this.#options = options;
    this.#host = host;
    this.#monotonicNow = options.monotonicNow ?? (() => performance.now());
    this.#refusals = new Refusals(host.log, this.#monotonicNow);
    const told = {
      overflow: () => this.#refusals.count('preauth-overflow'),
      evicted: () => this.#refusals.count('preauth-evicted'),
    };
    this.#slots = { local: new PreauthSlots(told), loopback: new PreauthSlots(told) };
    this.#http = this.#makeHttp();
  }

  get counters(): Pick<NodeStatus, 'connections' | 'listening'> {
    return {
      connections: {
        open: this.#ready,
        limit: this.#options.connectionsMax,
        unauthenticated: this.#slots.local.held + this.#slots.loopback.held,
        refused: this.#refusals.counts,
      },
      listening: this.#loopback === null ? [] : [addressOf(this.#loopback)],
    };
  }

  /** Only for the holder of the home's lock: a socket that lies there is a leftover. */
  async start(): Promise<void> {
    await this.#listen();
    const { listen } = this.#options;
    if (listen !== null) {
      const name = `${listen.host}:${listen.port}`;
      this.#loopback = await this.#listenOn({ ...listen }, name, this.#slots.loopback);
    }
    this.#every(WATCH_MS, () => void this.#guard());
    this.#every(this.#options.livenessMs ?? LIVENESS_MS, () => {
      for (const connection of this.#connections.values()) connection.checkLiveness();
    });
    try {
      // Only a hint that makes the noticing faster; the timer decides.
      this.#watcher = watch(dirname(this.#options.path), { persistent: false }, (_, name) => {
        if (name === basename(this.#options.path)) void this.#guard();
      });
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      this.#watcher = null;
    }
  }

  /** No new connections; waiting reads answer. */
  stopAccepting(): void {
    this.#stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#watcher?.close();
    this.#server?.close();
    this.#server = null;
    this.#loopback?.close();
    this.#slots.local.close();
    this.#slots.loopback.close();
    for (const connection of this.#connections.values()) connection.endWaits();
  }

  /** Says good-bye to everybody; cuts off who does not answer in time. */
  async closeAll(timeoutMs: number): Promise<void> {
    const open = [...this.#connections.keys()];
    for (const connection of this.#connections.values()) connection.goAway();
    const gone = Promise.all(open.map((socket) => closed(socket)));
    await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, timeoutMs).unref())]);
    for (const socket of open) socket.terminate();
  }

  /** A connection that this node made: the hub at its other end is the client, and proves itself with its own key. */
  serveCall({ webSocket, socket, token, proved }: Call): void {
    if (this.#stopping || this.#calls >= CALLS_MAX) {
      webSocket.terminate();
      proved(false);
      return;
    }
    this.#calls += 1;
    let isProved = false;
    this.#serve(webSocket, socket, {
      token,
      isCall: true,
      limit: CALLS_MAX,
      enter: () => {
        isProved = true;
        proved(true);
        return this.#nextConnectionId();
      },
      leave: () => undefined,
    });
    webSocket.once('close', () => {
      this.#calls -= 1;
      if (!isProved) proved(false);
    });
    webSocket.resume();
  }

  #every(milliseconds: number, work: () => void): void {
    const timer = setInterval(work, milliseconds);
    timer.unref();
    this.#timers.push(timer);
  }

  async #listen(): Promise<void> {
    const { path } = this.#options;
    removeLeftover(path);
    const server = await this.#listenOn({ path }, path, this.#slots.local);
    try {
      chmodSync(path, 0o600);
    } catch (cause) {
      server.close();
      throw listenFailure(path, cause);
    }
    this.#server = server;
    this.#inode = inodeOf(path);
  }

  async #listenOn(
    where: { path: string } | { host: string; port: number },
    name: string,
    slots: PreauthSlots,
  ): Promise<Server> {
    const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) =>
      this.#admit(socket, slots),
    );
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) => reject(listenFailure(name, cause)));
      // The socket file is made within the call.
      const before = process.umask(0o177);
      try {
        server.listen(where, resolve);
      } finally {
        process.umask(before);
      }
    });
    server.removeAllListeners('error');
    // Out of descriptors, a peer that left at once: the next one is accepted as soon as it can be.
    server.on('error', (error) => this.#refusals.count('accept-error', { code: systemErrorCode(error) }));
    return server;
  }

  async #guard(): Promise<void> {
    const old = this.#server;
    const { path } = this.#options;
    if (old === null || inodeOf(path) === this.#inode) return;
    this.#server = null;
    this.#host.log.warn({ path }, 'the socket file was taken away; listening again');
    // Before the new one exists: closing unlinks the path. Open connections are not touched.
    old.close();
    try {
      await this.#listen();
      if (this.#isStopping()) this.stopAccepting();
    } catch (error) {
      this.#host.log.error({ err: error }, 'cannot listen again yet');
      this.#server = old;
      this.#inode = -1;
    }
  }

  /** Asked anew after each wait. */
  #isStopping(): boolean {
    return this.#stopping;
  }

  #admit(socket: Socket, slots: PreauthSlots): void {
    if (this.#stopping) {
      socket.destroy();
      return;
    }
    this.#slotsOf.set(socket, slots);
    slots.take(socket, () => {
      // Until there is a WebSocket with a timer of its own.
      const timer = setTimeout(() => {
        this.#refusals.count('handshake-timeout');
        socket.destroy();
      }, HANDSHAKE_TIMEOUT_MS);
      this.#upgradeTimers.set(socket, timer);
      socket.once('close', () => clearTimeout(timer));
      this.#http.emit('connection', socket);
      socket.resume();
    });
  }

  #makeHttp(): HttpServer {
    const server = createHttpServer((request, response) => {
      const fault = headerFault(request);
      this.#refusals.count(fault ?? 'not-websocket');
      if (fault !== null) {
        response.writeHead(403, { Connection: 'close' }).end();
        return;
      }
      response.writeHead(426, { Upgrade: 'websocket', Connection: 'close', 'Content-Type': 'text/plain' });
      response.end('this socket speaks WebSocket\n');
    });
    server.on('clientError', (_, socket) => {
      this.#refusals.count('not-websocket');
      socket.destroy();
    });
    server.on('upgrade', (request, _, head) => this.#upgrade(request, request.socket, head));
    return server;
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const fault = headerFault(request);
    if (fault !== null) {
      this.#refusals.count(fault);
      socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    if (this.#stopping) {
      socket.destroy();
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      clearTimeout(this.#upgradeTimers.get(socket));
      this.#serve(webSocket, socket, {
        token: this.#options.token,
        isCall: false,
        limit: this.#options.connectionsMax,
        enter: () => this.#enter(socket),
        leave: () => (this.#ready -= 1),
      });
    });
  }

  #serve(
    webSocket: WebSocket,
    socket: Socket,
    terms: Pick<ConnectionOptions, 'token' | 'isCall' | 'limit' | 'enter' | 'leave'>,
  ): void {
    const connection = new Connection(this.#host, {
      webSocket,
      socket,
      refusals: this.#refusals,
      longRequests: this.#longRequests,
      monotonicNow: this.#monotonicNow,
      ...terms,
    });
    this.#connections.set(webSocket, connection);
    webSocket.once('close', () => this.#connections.delete(webSocket));
    this.#boundHandshake(socket, connection);
  }

  /** A place among those that have proved themselves; in any case none of the others is needed any more. */
  #enter(socket: Socket): ConnectionId | null {
    this.#slotsOf.get(socket)?.give(socket);
    if (this.#ready >= this.#options.connectionsMax) return null;
    this.#ready += 1;
    return this.#nextConnectionId();
  }

  #nextConnectionId(): ConnectionId {
    return ConnectionId.parse(this.#nextId++);
  }

  /** Until the handshake has passed, a peer gets little memory. */
  #boundHandshake(socket: Socket, connection: Connection): void {
    const start = socket.bytesRead;
    const onData = () => {
      if (connection.isReady) socket.off('data', onData);
      else if (socket.bytesRead - start > 3 * HANDSHAKE_FRAME_BYTES_MAX) {
        this.#refusals.count('frame-too-large');
        socket.destroy();
      }
    };
    socket.on('data', onData);
  }
}

/** No web page may speak to the node: browsers tell where a request comes from, and whom they mean. */
function headerFault({ headers }: IncomingMessage): RefusalReason | null {
  if (headers.origin !== undefined) return 'origin-refused';
  const host = (headers.host ?? '').replace(/:\d+$/, '');
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(host) ? null : 'host-refused';
}

function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') return '';
  return address.family === 'IPv6'
    ? `[${address.address}]:${address.port}`
    : `${address.address}:${address.port}`;
}

function inodeOf(path: string): number | null {
  try {
    return lstatSync(path).ino;
  } catch {
    return null;
  }
}

function removeLeftover(path: string): void {
  try {
    if (!lstatSync(path).isSocket()) {
      throw new FailureError('home-unusable', { path, reason: 'something that is not a socket lies there' });
    }
    rmSync(path);
  } catch (error) {
    if (error instanceof FailureError) throw error;
  }
}

function listenFailure(path: string, cause: unknown): FailureError {
  if (systemErrorCode(cause) === 'ENOSPC') return new FailureError('storage-full', { path }, { cause });
  return new FailureError('home-unusable', { path, reason: 'cannot listen there' }, { cause });
}

function closed(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return Promise.resolve();
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
