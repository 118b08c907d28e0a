/**
 * A WebSocket client for garbage: it writes whatever bytes it is given, and tells what came back, frame by frame, without
 * believing any of it. Bare sockets, because a library would refuse to send most of it.
 */
import { createConnection, type Socket } from 'node:net';
import { isProof, makeProof, type Token } from '@roost/protocol/node';
import { HANDSHAKE, webSocketFrame } from './raw-web-socket.ts';

/** The beginning of a node's frame: what tells one outcome from another. */
export interface Seen {
  readonly kind: string;
  readonly id: number | null;
  readonly code: string | null;
  readonly text: string;
}

export interface Closing {
  /** Of the close frame; null when the line ended without one. */
  readonly code: number | null;
}

const TEXT = 0x1;
const CLOSE = 0x8;

export class FuzzConnection {
  readonly closed: Promise<Closing>;
  readonly #socket: Socket;
  readonly #onFrame: (seen: Seen) => void;
  #pending: Buffer = Buffer.alloc(0);
  #isUpgraded = false;
  #code: number | null = null;
  #isClosed = false;
  #upgraded: () => void = () => undefined;

  private constructor(path: string, onFrame: (seen: Seen) => void) {
    this.#onFrame = onFrame;
    this.#socket = createConnection(path);
    this.#socket.on('error', () => this.#socket.destroy());
    this.#socket.on('data', (chunk) => this.#receive(chunk));
    this.closed = new Promise((resolve) =>
      this.#socket.on('close', () => {
        this.#isClosed = true;
        resolve({ code: this.#code });
      }),
    );
  }

  static async open(path: string, onFrame: (seen: Seen) => void): Promise<FuzzConnection> {
    const connection = new FuzzConnection(path, onFrame);
    const upgraded = new Promise<void>((resolve) => (connection.#upgraded = resolve));
    connection.#socket.write(HANDSHAKE);
    await Promise.race([upgraded, connection.closed]);
    if (connection.isClosed) throw new Error('closed before the upgrade');
    return connection;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  sendText(text: string | Uint8Array): void {
    this.sendRaw(webSocketFrame(text));
  }

  sendRaw(bytes: Uint8Array): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  /** Says nothing more; what the node still says is heard. */
  end(): void {
    this.#socket.end();
  }

  #receive(chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    if (!this.#isUpgraded) {
      const end = this.#pending.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.#isUpgraded = true;
      this.#pending = this.#pending.subarray(end + 4);
      this.#upgraded();
    }
    for (;;) {
      const frame = cutFrame(this.#pending);
      if (frame === null) return;
      this.#pending = this.#pending.subarray(frame.end);
      if (frame.opcode === CLOSE) {
        this.#code = frame.payload.length >= 2 ? frame.payload.readUInt16BE(0) : 1005;
        // The node waits for our good-bye before it lets go.
        this.#socket.end();
      } else if (frame.opcode === TEXT) this.#onFrame(describe(frame.payload.toString()));
    }
  }
}

/** The node's frames are not masked and not fragmented. */
function cutFrame(bytes: Buffer): { opcode: number; payload: Buffer; end: number } | null {
  if (bytes.length < 2) return null;
  const opcode = (bytes[0] ?? 0) & 0x0f;
  let length = (bytes[1] ?? 0) & 0x7f;
  let start = 2;
  if (length === 126) {
    if (bytes.length < 4) return null;
    [length, start] = [bytes.readUInt16BE(2), 4];
  } else if (length === 127) {
    if (bytes.length < 10) return null;
    [length, start] = [Number(bytes.readBigUInt64BE(2)), 10];
  }
  const end = start + length;
  return bytes.length < end ? null : { opcode, payload: bytes.subarray(start, end), end };
}

function describe(text: string): Seen {
  const head = /^\{"kind":"([a-z-]+)"(?:,"id":(\d+))?/.exec(text);
  if (head === null) throw new Error(`not a frame of a node: ${text.slice(0, 200)}`);
  const [, kind = '', id] = head;
  const code =
    kind === 'failure' || kind === 'refused' ? (/"failure":\{"code":"([^"]*)"/.exec(text)?.[1] ?? '') : null;
  return { kind, id: id === undefined ? null : Number(id), code, text };
}

/** The frame that answers a challenge; checks the node's proof on the way. */
export function answerChallenge(token: Token, hello: Uint8Array, challenge: string): string {
  const { selection, proof } = JSON.parse(challenge) as { selection: string; proof: string };
  const role = (JSON.parse(Buffer.from(hello).toString()) as { role: 'operator' | 'observer' }).role;
  const input = { token, role, hello, selection: Buffer.from(selection) };
  if (!isProof(proof, { ...input, direction: 'node' })) throw new Error('the node proved another token');
  return JSON.stringify({ kind: 'authenticate', proof: makeProof({ ...input, direction: 'client' }) });
}
