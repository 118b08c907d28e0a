// The node's socket: WebSocket over a Unix socket that only its owner can open. The path may be taken away under a running
// node; then the node listens again, and whoever is connected stays connected.
import { chmodSync, lstatSync, rmSync, watch, type FSWatcher } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { basename, dirname } from 'node:path';
import { WebSocketServer, type WebSocket } from 'ws';
import {
  CLIENT_FRAME_BYTES_MAX,
  CONNECTIONS_MAX,
  failure,
  FailureError,
  HELLO_BYTES_MAX,
  HELLO_TIMEOUT_MS,
} from '@roost/protocol';
import { systemErrorCode } from '../home/system-error.ts';
import { Connection, type ConnectionHost } from './connection.ts';

/** Milliseconds between looks at the socket file. */
const WATCH_MS = 2_000;
/** Connections beyond the bound that are still told why they are refused; more are cut off. */
const REFUSED_AT_ONCE_MAX = 32;

export class ConnectionServer {
  readonly #path: string;
  readonly #host: ConnectionHost;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: CLIENT_FRAME_BYTES_MAX,
    perMessageDeflate: false,
  });
  readonly #connections = new Map<WebSocket, Connection>();
  #raw = 0;
  #server: Server | null = null;
  #inode: number | null = null;
  #timer: NodeJS.Timeout | null = null;
  #watcher: FSWatcher | null = null;

  constructor(path: string, host: ConnectionHost) {
    this.#path = path;
    this.#host = host;
  }

  get count(): number {
    return this.#connections.size;
  }

  /** Only for the holder of the home's lock: a socket that lies there is a leftover. */
  async start(): Promise<void> {
    await this.#listen();
    this.#timer = setInterval(() => void this.#guard(), WATCH_MS);
    this.#timer.unref();
    try {
      // Only a hint that makes the noticing faster; the timer decides.
      this.#watcher = watch(dirname(this.#path), { persistent: false }, (_, name) => {
        if (name === basename(this.#path)) void this.#guard();
      });
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      this.#watcher = null;
    }
  }

  /** No new connections; waiting reads answer. */
  stopAccepting(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#watcher?.close();
    this.#server?.close();
    this.#server = null;
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

  async #listen(): Promise<void> {
    removeLeftover(this.#path);
    const server = createServer((_, response) => {
      response.writeHead(426, { Upgrade: 'websocket', Connection: 'close', 'Content-Type': 'text/plain' });
      response.end('this socket speaks WebSocket\n');
    });
    server.on('connection', (socket) => this.#admit(socket));
    server.on('clientError', (_, socket) => socket.destroy());
    server.on('upgrade', (request, _, head) => this.#upgrade(request, request.socket, head));
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) => reject(listenFailure(this.#path, cause)));
      const before = process.umask(0o177);
      try {
        server.listen(this.#path, resolve);
      } finally {
        process.umask(before);
      }
    });
    server.on('error', (error) => this.#host.log.error({ err: error }, 'the socket failed'));
    chmodSync(this.#path, 0o600);
    this.#server = server;
    this.#inode = inodeOf(this.#path);
  }

  async #guard(): Promise<void> {
    const old = this.#server;
    if (old === null || inodeOf(this.#path) === this.#inode) return;
    this.#server = null;
    this.#host.log.warn({ path: this.#path }, 'the socket file was taken away; listening again');
    // Before the new one exists: closing unlinks the path. Open connections are not touched.
    old.close();
    try {
      await this.#listen();
    } catch (error) {
      this.#host.log.error({ err: error }, 'cannot listen again yet');
      this.#server = old;
      this.#inode = -1;
    }
  }

  #admit(socket: Socket): void {
    if (this.#raw >= CONNECTIONS_MAX + REFUSED_AT_ONCE_MAX) {
      socket.destroy();
      return;
    }
    this.#raw += 1;
    const timer = setTimeout(() => {
      if (connectionOf.get(socket)?.welcomed !== true) socket.destroy();
    }, HELLO_TIMEOUT_MS);
    socket.once('close', () => {
      this.#raw -= 1;
      clearTimeout(timer);
    });
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = new Connection(this.#host, webSocket);
      if (this.#connections.size >= CONNECTIONS_MAX) {
        connection.refuse(failure('connections-exhausted', { limit: CONNECTIONS_MAX }));
        return;
      }
      this.#connections.set(webSocket, connection);
      webSocket.once('close', () => this.#connections.delete(webSocket));
      connectionOf.set(socket, connection);
      boundHello(socket, connection);
    });
  }
}

const connectionOf = new WeakMap<Socket, Connection>();

/** Until hello has passed, a peer gets little memory. */
function boundHello(socket: Socket, connection: Connection): void {
  const start = socket.bytesRead;
  const onData = () => {
    if (connection.welcomed) socket.off('data', onData);
    else if (socket.bytesRead - start > 2 * HELLO_BYTES_MAX) socket.destroy();
  };
  socket.on('data', onData);
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
