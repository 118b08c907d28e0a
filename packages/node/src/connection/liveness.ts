// Whether a peer is still there. One that reads slowly is; one that takes nothing of what waits for it, or says nothing to a ping
// although nothing is in its way, is not. Only decides: whoever asks from time to time cuts the connection off.
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** Milliseconds between pings; also how long an answer may take. */
export const PING_MS = 20_000;
/** Milliseconds in which a client that has something to read has read some of it. */
export const WRITE_DEADLINE_MS = 20_000;

/** What is looked at of a connection. */
export interface Peer {
  readonly webSocket: Pick<WebSocket, 'ping' | 'isPaused' | 'on'>;
  readonly socket: Pick<Socket, 'bytesWritten' | 'writableLength'>;
}

export class Liveness {
  readonly #peer: Peer;
  readonly #monotonicNow: () => number;
  #awaitsPong = false;
  #pingedAt: number;
  #progress = '';
  #progressAt: number;

  constructor(peer: Peer, monotonicNow: () => number) {
    this.#peer = peer;
    this.#monotonicNow = monotonicNow;
    this.#pingedAt = monotonicNow();
    this.#progressAt = this.#pingedAt;
    peer.webSocket.on('pong', () => (this.#awaitsPong = false));
  }

  /** Why the peer counts as gone; null while it does not. Pings when that is due. */
  check(): 'write-deadline' | 'no-pong' | null {
    const { webSocket, socket } = this.#peer;
    const now = this.#monotonicNow();
    if (socket.writableLength > 0) {
      // The ping and its answer wait behind what is not read yet.
      this.#noteProgress(now);
      if (now - this.#progressAt >= WRITE_DEADLINE_MS) return 'write-deadline';
    } else this.#progress = '';
    if (webSocket.isPaused) {
      // We do not read: its answer may lie in the socket.
      this.#awaitsPong = false;
      return null;
    }
    if (now - this.#pingedAt < PING_MS) return null;
    if (!this.#awaitsPong) {
      this.#awaitsPong = true;
      this.#pingedAt = now;
      webSocket.ping();
      return null;
    }
    const blocked = socket.writableLength > 0 || now - this.#progressAt < PING_MS;
    return blocked ? null : 'no-pong';
  }

  #noteProgress(now: number): void {
    const { socket } = this.#peer;
    const progress = `${socket.bytesWritten - socket.writableLength}:${queuedInSystem(socket)}`;
    if (progress === this.#progress) return;
    this.#progress = progress;
    this.#progressAt = now;
  }
}

/**
 * Bytes of the write under way that the kernel has not taken. A large write counts as one until all of it is gone; only this
 * tells that a slow reader moves meanwhile. Node's own socket timeout looks at it, too. 0 where it is not there.
 */
function queuedInSystem(socket: object): number {
  const { _handle: handle } = socket as { _handle?: { writeQueueSize?: unknown } | null };
  return typeof handle?.writeQueueSize === 'number' ? handle.writeQueueSize : 0;
}
