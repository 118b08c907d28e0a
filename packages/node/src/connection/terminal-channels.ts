// Terminal lanes of one connection: each is a socket of a keeper, passed on in binary messages as it is. Who reads too slowly holds the
// keeper's sockets back, and the lane's own window keeps what is on its way small.
import { createConnection, type Socket } from 'node:net';
import { FRAME_HEADER_BYTES, TerminalFrameKind } from '@roost/protocol/terminal-frames';
import type { WebSocket } from 'ws';
import { FailureError, TERMINAL_CHANNEL_HEADER_BYTES, TERMINAL_CHANNELS_MAX } from '@roost/protocol';

/** Unread bytes of the connection above which no lane is read. */
const WINDOW_BYTES = 256 * 1024;
/** Bytes of one client's input that a keeper may leave unread before that channel is ended. */
const INPUT_BYTES_MAX = 8 * 1024 * 1024;
/** Bytes of a lane in one message: a large screen comes in several. */
const CHUNK_BYTES = 256 * 1024;
/** Milliseconds after which lanes look again whether what others send is on the wire. */
const LOOK_AGAIN_MS = 20;
/** Milliseconds that a keeper may take to accept. */
const CONNECT_MS = 5_000;

export class TerminalChannels {
  readonly #webSocket: WebSocket;
  readonly #lanes = new Map<number, Socket>();
  /** What came of the first frame of a lane, until its kind is known. */
  readonly #heads = new Map<number, Buffer>();
  #next = 1;
  #isHeldBack = false;
  /** Messages that are not on the wire yet. */
  #unsent = 0;
  #lookAgain: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(webSocket: WebSocket) {
    this.#webSocket = webSocket;
  }

  /** Connects a new channel to a keeper's socket. @throws FailureError: backend-busy, keeper-unavailable. */
  async open(path: string): Promise<number> {
    if (this.#lanes.size >= TERMINAL_CHANNELS_MAX) {
      throw new FailureError('backend-busy', { terminalChannelsMax: TERMINAL_CHANNELS_MAX });
    }
    const channel = this.#next++;
    const lane = createConnection(path);
    // It counts at once: many may be asked for at the same time.
    this.#lanes.set(channel, lane);
    this.#heads.set(channel, Buffer.alloc(0));
    try {
      await connected(lane);
    } catch (cause) {
      this.#forget(channel, lane);
      throw new FailureError('keeper-unavailable', undefined, { cause });
    }
    if (this.#isClosed) {
      lane.destroy();
      throw new FailureError('connection-lost');
    }
    lane.on('error', () => lane.destroy());
    lane.on('data', (bytes: Buffer) => this.#send(channel, bytes));
    lane.on('close', () => {
      if (this.#forget(channel, lane)) this.#sendMessage(channel, Buffer.alloc(0));
    });
    if (this.#isHeldBack) lane.pause();
    return channel;
  }

  /**
   * The lane of a keeper is one of two: whoever begins with anything but `attach` would be taken for its node. What the first frame is
   * stands in its fifth byte; until that is here, nothing goes out.
   */
  #opens(channel: number, bytes: Buffer): Buffer | null {
    const head = Buffer.concat([this.#heads.get(channel) ?? Buffer.alloc(0), bytes]);
    if (head.length < FRAME_HEADER_BYTES) {
      this.#heads.set(channel, head);
      return null;
    }
    this.#heads.delete(channel);
    if (head[FRAME_HEADER_BYTES - 1] === TerminalFrameKind.attach) return head;
    this.#lanes.get(channel)?.destroy();
    return null;
  }

  /** A binary message of the client; one of a channel that has ended meanwhile is too late. False when it is no message of a channel. */
  receive(message: Buffer): boolean {
    if (message.length < TERMINAL_CHANNEL_HEADER_BYTES) return false;
    const channel = message.readUInt32BE(0);
    const lane = this.#lanes.get(channel);
    if (message.length === TERMINAL_CHANNEL_HEADER_BYTES) {
      this.close(channel);
      return true;
    }
    if (lane === undefined) {
      // It may not have known the channel yet when that ended; whoever does not read is not told.
      if (this.#webSocket.bufferedAmount <= WINDOW_BYTES) this.#sendMessage(channel, Buffer.alloc(0));
      return true;
    }
    const bytes = message.subarray(TERMINAL_CHANNEL_HEADER_BYTES);
    const passed = this.#heads.has(channel) ? this.#opens(channel, bytes) : bytes;
    if (passed === null) return true;
    lane.write(passed);
    if (lane.writableLength > INPUT_BYTES_MAX) lane.destroy();
    return true;
  }

  close(channel: number): void {
    const lane = this.#lanes.get(channel);
    if (lane === undefined) return;
    this.#forget(channel, lane);
    // What was typed before still goes out.
    lane.end();
    lane.resume();
  }

  closeAll(): void {
    this.#isClosed = true;
    if (this.#lookAgain !== null) clearTimeout(this.#lookAgain);
    for (const channel of [...this.#lanes.keys()]) this.close(channel);
  }

  #send(channel: number, bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      this.#sendMessage(channel, bytes.subarray(at, at + CHUNK_BYTES));
    }
    if (this.#isHeldBack || this.#webSocket.bufferedAmount <= WINDOW_BYTES) return;
    this.#isHeldBack = true;
    for (const lane of this.#lanes.values()) lane.pause();
  }

  #sendMessage(channel: number, bytes: Buffer): void {
    if (this.#webSocket.readyState !== this.#webSocket.OPEN) return;
    const message = Buffer.allocUnsafe(TERMINAL_CHANNEL_HEADER_BYTES + bytes.length);
    message.writeUInt32BE(channel, 0);
    bytes.copy(message, TERMINAL_CHANNEL_HEADER_BYTES);
    this.#unsent += 1;
    this.#webSocket.send(message, this.#onSent);
  }

  readonly #onSent = (): void => {
    this.#unsent -= 1;
    this.#letGo();
  };

  #letGo(): void {
    if (!this.#isHeldBack || this.#isClosed) return;
    if (this.#webSocket.bufferedAmount <= WINDOW_BYTES) {
      this.#isHeldBack = false;
      for (const lane of this.#lanes.values()) lane.resume();
    } else if (this.#unsent === 0) {
      // What fills it now is of others, whose sending is not told here.
      this.#lookAgain ??= setTimeout(() => {
        this.#lookAgain = null;
        this.#letGo();
      }, LOOK_AGAIN_MS).unref();
    }
  }

  /** Whether it was still known. */
  #forget(channel: number, lane: Socket): boolean {
    if (this.#lanes.get(channel) !== lane) return false;
    this.#lanes.delete(channel);
    this.#heads.delete(channel);
    return true;
  }
}

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => socket.destroy(new Error(`no connection within ${CONNECT_MS} ms`)),
      CONNECT_MS,
    );
    const onError = (error: Error): void => {
      clearTimeout(timer);
      reject(error);
    };
    socket.once('error', onError);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', onError);
      resolve();
    });
  });
}
