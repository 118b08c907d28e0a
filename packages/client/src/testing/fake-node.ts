/**
 * A node for tests, without anything behind it: it speaks the control frames over a real Unix socket and does what the
 * test says.
 */
import { createServer, type Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientFrame, type NodeEvent, type NodeFrame, type Request } from '@roost/protocol';
import { WebSocketServer, type WebSocket } from 'ws';

export interface FakeConnection {
  send(frame: NodeFrame | string): void;
  cut(): void;
}

export interface FakeNodeOptions {
  readonly socketPath: string;
  /** Answers hello by itself unless false. */
  readonly welcomes?: boolean;
  readonly onRequest?: (request: Request, connection: FakeConnection) => void;
}

export class FakeNode {
  readonly connections = new Set<FakeConnection>();
  readonly #server: Server;
  readonly #sockets: WebSocketServer;

  constructor(server: Server, sockets: WebSocketServer) {
    this.#server = server;
    this.#sockets = sockets;
  }

  static async listen(options: FakeNodeOptions): Promise<FakeNode> {
    const server = createServer();
    const sockets = new WebSocketServer({ server });
    const node = new FakeNode(server, sockets);
    sockets.on('connection', (socket) => node.#serve(socket, options));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.socketPath, resolve);
    });
    return node;
  }

  #serve(socket: WebSocket, options: FakeNodeOptions): void {
    const connection: FakeConnection = {
      send: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
      cut: () => socket.terminate(),
    };
    this.connections.add(connection);
    socket.on('close', () => this.connections.delete(connection));
    socket.on('message', (data: Buffer) => {
      const frame = ClientFrame.parse(JSON.parse(data.toString()));
      if (frame.kind === 'request') options.onRequest?.(frame, connection);
      else if (options.welcomes !== false) connection.send(WELCOME);
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

export const WELCOME = {
  kind: 'welcome',
  protocol: 1,
  capabilities: ['terminal-attach-v1', 'event-journal-v1'],
  node: { id: '0123456789abcdef', incarnation: 'fedcba9876543210', version: '9.9.9' },
} as NodeFrame;

export function fakeEvent(sequence: number): NodeEvent {
  return {
    sequence,
    at: '2026-01-01T00:00:00.000Z',
    body: { kind: 'node-stopped', incarnation: 'fedcba9876543210' },
  } as NodeEvent;
}

/** A directory of the test's own. */
export async function scratchDirectory(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'roost-client-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
