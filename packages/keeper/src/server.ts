/**
 * The keeper's socket. The first frame of a connection says what it is: a node (`control`) or a client (`attach`). A
 * connection that misbehaves is closed; nothing that arrives here can end the process.
 */
import { statSync, unlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { encodeJsonFrame, FrameReader, TerminalFrameKind } from '@roost/protocol/terminal-frames';
import { AttachConnection } from './attach-connection.ts';
import { Children } from './children.ts';
import { endSoon } from './closing.ts';
import { ControlConnection } from './control-connection.ts';
import { fieldsOf, integer } from './fields.ts';
import { ScreenPump } from './screen-pump.ts';
import { Tickets } from './tickets.ts';
import {
  KEEPER_FRAME_BYTES_MAX,
  KEEPER_WIRE_MAX,
  KEEPER_WIRE_MIN,
  KeeperFrameKind,
  type KeeperWelcome,
} from './wire.ts';

/** Milliseconds for the first frame. */
const FIRST_FRAME_MS = 5_000;
/** Bytes of the first frame: who sends it is not known yet. */
const FIRST_FRAME_BYTES_MAX = 64 * 1024;
/** Bytes of a client's frame: keystrokes and pastes come in pieces far below this. */
const CLIENT_FRAME_BYTES_MAX = 1024 * 1024;
const CONNECTIONS_MAX = 1_024;
/** Milliseconds between two looks at our own socket file. */
const SOCKET_LOOK_MS = 2_000;

export interface KeeperIdentity {
  readonly keeperId: string;
  readonly version: string;
}

type Lane =
  | { kind: 'new' }
  | { kind: 'control'; control: ControlConnection }
  | { kind: 'attach'; attach: AttachConnection }
  | { kind: 'over' };

export class KeeperServer {
  readonly children: Children;
  readonly #identity: KeeperIdentity;
  readonly #socketPath: string;
  readonly #controls = new Set<ControlConnection>();
  readonly #sockets = new Set<Socket>();
  readonly #tickets = new Tickets();
  #server: Server | null = null;
  #inode: number | null = null;
  #look: NodeJS.Timeout | null = null;
  #binding = false;
  #complaint: string | null = null;

  constructor(identity: KeeperIdentity, socketPath: string) {
    this.#identity = identity;
    this.#socketPath = socketPath;
    this.children = new Children(new ScreenPump(), {
      changed: (state) => {
        for (const control of this.#controls) control.changed(state);
      },
      output: (sessionId) => {
        for (const control of this.#controls) control.output(sessionId);
      },
    });
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Listens, and listens anew whenever the socket file is gone. Another's in its place is left alone. */
  async listen(): Promise<void> {
    await this.#bind();
    this.#look = setInterval(() => {
      void this.#listenAgain();
    }, SOCKET_LOOK_MS);
    this.#look.unref();
  }

  close(): void {
    if (this.#look !== null) clearInterval(this.#look);
    if (this.#inode !== null && inodeOf(this.#socketPath) === this.#inode) unlinkSync(this.#socketPath);
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Complains once of what is wrong, not at every look. */
  async #listenAgain(): Promise<void> {
    if (this.#binding) return;
    this.#binding = true;
    try {
      const inode = inodeOf(this.#socketPath);
      if (inode === null) await this.#bind();
      else if (inode !== this.#inode) throw new Error('another file is in the place of the socket');
      this.#complaint = null;
    } catch (error) {
      const complaint = String(error);
      if (complaint !== this.#complaint) complain('cannot listen again', error);
      this.#complaint = complaint;
    } finally {
      this.#binding = false;
    }
  }

  async #bind(): Promise<void> {
    // What it accepted stays open. It unlinks the path, so it goes before the new one binds.
    this.#server?.close();
    this.#server = null;
    this.#inode = null;
    const server = createServer((socket) => {
      this.#accept(socket);
    });
    server.maxConnections = CONNECTIONS_MAX;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#socketPath, resolve);
    });
    // Out of descriptors or the like: this connection is lost, the next may go.
    server.on('error', (error) => complain('socket', error));
    this.#server = server;
    this.#inode = inodeOf(this.#socketPath);
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    const reader = new FrameReader(FIRST_FRAME_BYTES_MAX);
    let lane: Lane = { kind: 'new' };
    const timer = setTimeout(() => socket.destroy(), FIRST_FRAME_MS);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
      if (lane.kind === 'control') this.#controls.delete(lane.control);
      if (lane.kind === 'attach') lane.attach.closed();
    });
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const { kind, payload } of reader.read(chunk)) {
          switch (lane.kind) {
            case 'new':
              clearTimeout(timer);
              lane = this.#open(socket, kind, payload);
              if (lane.kind === 'control') reader.maxPayloadBytes = KEEPER_FRAME_BYTES_MAX;
              if (lane.kind === 'attach') reader.maxPayloadBytes = CLIENT_FRAME_BYTES_MAX;
              break;
            case 'control':
              if (kind === KeeperFrameKind.control) lane.control.receive(payload);
              break;
            case 'attach':
              lane.attach.receive(kind, payload);
              break;
            case 'over':
              break;
          }
        }
      } catch {
        socket.destroy();
      }
    });
  }

  #open(socket: Socket, kind: number, payload: Uint8Array): Lane {
    if (kind === TerminalFrameKind.attach) {
      const attach = new AttachConnection(socket);
      attach.open(payload, this.children, this.#tickets);
      return { kind: 'attach', attach };
    }
    if (kind !== KeeperFrameKind.control) throw new Error('neither hello nor attach');
    const hello = fieldsOf(JSON.parse(Buffer.from(payload).toString()), 'hello');
    const range = fieldsOf(hello.wire, 'wire');
    const wire = Math.min(integer(range, 'max', 1, 1_000_000), KEEPER_WIRE_MAX);
    if (wire < Math.max(integer(range, 'min', 1, 1_000_000), KEEPER_WIRE_MIN)) {
      const reason = `this keeper speaks ${KEEPER_WIRE_MIN}..${KEEPER_WIRE_MAX}`;
      endSoon(socket, encodeJsonFrame(KeeperFrameKind.control, { kind: 'refused', reason }));
      return { kind: 'over' };
    }
    const welcome: KeeperWelcome = { kind: 'welcome', wire, pid: process.pid, ...this.#identity };
    socket.write(encodeJsonFrame(KeeperFrameKind.control, welcome));
    const control = new ControlConnection(socket, this.children, this.#tickets);
    this.#controls.add(control);
    return { kind: 'control', control };
  }
}

function inodeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
}

export function complain(what: string, error: unknown): void {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${new Date().toISOString()} ${what}: ${detail}\n`);
}
