/**
 * A node for tests, without anything behind it: it shakes hands, speaks the control frames over a real Unix socket and does
 * what the test says.
 */
import { createServer, type Server } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  ClientFrame,
  negotiate,
  OFFERED_CAPABILITIES,
  type Hello,
  type NodeEvent,
  type NodeFrame,
  type Request,
  type RequestPart,
  type Selection,
} from '@roost/protocol';
import { isProof, makeNonce, makeProof, makeOperatorToken, type Token } from '@roost/protocol/node';
import { WebSocketServer, type WebSocket } from 'ws';

export interface FakeConnection {
  send(frame: NodeFrame | string): void;
  cut(): void;
}

export interface FakeNodeOptions {
  readonly socketPath: string;
  /** Answers the handshake by itself unless false. */
  readonly shakesHands?: boolean;
  /** Changes a frame of the handshake before it is sent; the frame may be of another protocol. */
  readonly handshake?: (frame: NodeFrame, hello: Hello) => NodeFrame | string;
  /** Changes the selection before it is proved. */
  readonly select?: (selection: Selection, hello: Hello) => unknown;
  /** The token that it proves; that of its file otherwise. */
  readonly token?: Token;
  readonly onRequest?: (request: Request, connection: FakeConnection) => void;
}

/** Where the client looks for it: beside the socket. */
export const FAKE_TOKEN = makeOperatorToken();

export const FAKE_SELECTION = {
  protocol: 2,
  capabilities: [...OFFERED_CAPABILITIES],
  node: { id: '0123456789abcdef', incarnation: 'fedcba9876543210', version: '9.9.9' },
};

export class FakeNode {
  readonly connections = new Set<FakeConnection>();
  /** Kinds of the frames that clients sent, handshake included. */
  readonly received: string[] = [];
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  #accepted = 0;

  constructor(server: Server, sockets: WebSocketServer) {
    this.#server = server;
    this.#sockets = sockets;
  }

  static async listen(options: FakeNodeOptions): Promise<FakeNode> {
    const server = createServer();
    const sockets = new WebSocketServer({ server });
    const node = new FakeNode(server, sockets);
    sockets.on('connection', (socket) => node.#serve(socket, options));
    await writeFile(join(dirname(options.socketPath), 'node.token'), `${FAKE_TOKEN}\n`, { mode: 0o600 });
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
    let peer: { hello: Hello; helloBytes: Uint8Array; selection: Buffer } | undefined;
    let parts = '';
    const token = options.token ?? FAKE_TOKEN;
    const { handshake = (frame: NodeFrame) => frame } = options;
    const take = (bytes: Buffer): void => {
      const frame = ClientFrame.parse(JSON.parse(bytes.toString()));
      switch (frame.kind) {
        case 'hello': {
          if (options.shakesHands === false) return;
          const chosen = negotiate(frame);
          const offered = { ...FAKE_SELECTION, ...chosen, nonce: makeNonce() } as unknown as Selection;
          const selection = JSON.stringify(options.select?.(offered, frame) ?? offered);
          peer = { hello: frame, helloBytes: bytes, selection: Buffer.from(selection) };
          const input = { token, role: frame.role, hello: bytes, selection: peer.selection };
          const proof = makeProof({ ...input, direction: 'node' });
          connection.send(handshake({ kind: 'challenge', selection, proof }, frame));
          return;
        }
        case 'authenticate': {
          if (peer === undefined) throw new Error('a proof before its hello');
          const { hello, helloBytes, selection } = peer;
          const input = { token, role: hello.role, hello: helloBytes, selection };
          if (!isProof(frame.proof, { ...input, direction: 'client' })) throw new Error('a wrong proof');
          this.#accepted += 1;
          const ready = { kind: 'ready', connectionId: this.#accepted, sequence: 0, controller: null };
          connection.send(handshake(ready as NodeFrame, hello));
          return;
        }
        case 'request':
          options.onRequest?.(frame, connection);
          return;
        case 'part':
          parts += (frame satisfies RequestPart).text;
          if (!frame.last) return;
          take(Buffer.from(parts));
          parts = '';
      }
    };
    socket.on('message', (data: Buffer) => {
      this.received.push((JSON.parse(data.toString()) as { kind: string }).kind);
      take(data);
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

export function fakeEvent(sequence: number): NodeEvent {
  return {
    sequence,
    incarnation: 'fedcba9876543210',
    at: '2026-01-01T00:00:00.000Z',
    body: { kind: 'node-stopped', incarnation: 'fedcba9876543210' },
  } as NodeEvent;
}

/** A directory of the test's own. */
export async function scratchDirectory(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'roost-client-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
