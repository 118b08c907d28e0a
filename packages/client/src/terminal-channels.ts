/** Terminal lanes that travel over the connection to a node, in its binary messages, as streams. */
import { Duplex } from 'node:stream';
import { TERMINAL_CHANNEL_HEADER_BYTES } from '@roost/protocol';
import WebSocket from 'ws';

/** Bytes in one message, below what a node takes in a frame. */
const MESSAGE_BYTES_MAX = 128 * 1024;

export class TerminalChannels {
  readonly #webSocket: WebSocket;
  readonly #lanes = new Map<number, Duplex>();
  #isClosed = false;

  constructor(webSocket: WebSocket) {
    this.#webSocket = webSocket;
  }

  open(channel: number): Duplex {
    const lane = new Duplex({
      read: () => undefined,
      write: (bytes: Buffer, _, done) => {
        for (let at = 0; at < bytes.length; at += MESSAGE_BYTES_MAX) {
          const isLast = at + MESSAGE_BYTES_MAX >= bytes.length;
          // On the wire, or on a line that is over: then the lane is told so, too.
          this.#send(channel, bytes.subarray(at, at + MESSAGE_BYTES_MAX), isLast ? () => done() : undefined);
        }
        if (bytes.length === 0) done();
      },
      final: (done) => {
        this.#send(channel, Buffer.alloc(0));
        done();
      },
      destroy: (error, done) => {
        if (this.#lanes.delete(channel)) this.#send(channel, Buffer.alloc(0));
        done(error);
      },
    });
    if (this.#isClosed) lane.destroy();
    else this.#lanes.set(channel, lane);
    return lane;
  }

  receive(message: Buffer): void {
    if (message.length < TERMINAL_CHANNEL_HEADER_BYTES) return;
    const channel = message.readUInt32BE(0);
    const lane = this.#lanes.get(channel);
    if (lane === undefined) return;
    if (message.length > TERMINAL_CHANNEL_HEADER_BYTES) {
      lane.push(message.subarray(TERMINAL_CHANNEL_HEADER_BYTES));
      return;
    }
    this.#lanes.delete(channel);
    // What came before is read to its end.
    lane.push(null);
  }

  close(): void {
    this.#isClosed = true;
    for (const lane of this.#lanes.values()) lane.destroy();
    this.#lanes.clear();
  }

  #send(channel: number, bytes: Buffer, sent?: () => void): void {
    if (this.#webSocket.readyState !== WebSocket.OPEN) {
      sent?.();
      return;
    }
    const message = Buffer.allocUnsafe(TERMINAL_CHANNEL_HEADER_BYTES + bytes.length);
    message.writeUInt32BE(channel, 0);
    bytes.copy(message, TERMINAL_CHANNEL_HEADER_BYTES);
    this.#webSocket.send(message, sent);
  }
}
