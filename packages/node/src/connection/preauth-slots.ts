// Places for sockets that have not proved themselves. Who finds none waits, unread, in a short line and for a short time.
import type { Socket } from 'node:net';
import { HANDSHAKE_TIMEOUT_MS, PREAUTH_CONNECTIONS_MAX } from '@roost/protocol';

/** Sockets that may wait for a place. */
const WAITING_MAX = 128;
/** Milliseconds until a waiting socket is given up: twice what everybody before it may take. */
const WAIT_MS = 4 * HANDSHAKE_TIMEOUT_MS;

interface Waiting {
  readonly socket: Socket;
  readonly serve: () => void;
  readonly timer: NodeJS.Timeout;
}

export class PreauthSlots {
  readonly #overflow: () => void;
  readonly #holders = new Set<Socket>();
  readonly #waiting: Waiting[] = [];

  /** `overflow` is told of each socket that is cut off unheard. */
  constructor(overflow: () => void) {
    this.#overflow = overflow;
  }

  get held(): number {
    return this.#holders.size;
  }

  /** Serves a paused socket, at once or when its turn comes. */
  take(socket: Socket, serve: () => void): void {
    socket.once('close', () => this.#gone(socket));
    if (this.#holders.size < PREAUTH_CONNECTIONS_MAX) {
      this.#holders.add(socket);
      serve();
    } else if (this.#waiting.length < WAITING_MAX) {
      // An error of a socket that nobody serves yet would be thrown.
      socket.on('error', () => socket.destroy());
      const timer = setTimeout(() => this.#drop(socket), WAIT_MS);
      this.#waiting.push({ socket, serve, timer });
    } else this.#drop(socket);
  }

  /** It has proved itself, or it is gone. */
  give(socket: Socket): void {
    if (!this.#holders.delete(socket)) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    clearTimeout(next.timer);
    this.#holders.add(next.socket);
    next.serve();
  }

  /** Nobody is served any more. */
  close(): void {
    for (const { socket, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      socket.destroy();
    }
  }

  #gone(socket: Socket): void {
    const at = this.#waiting.findIndex((one) => one.socket === socket);
    if (at >= 0) for (const { timer } of this.#waiting.splice(at, 1)) clearTimeout(timer);
    this.give(socket);
  }

  #drop(socket: Socket): void {
    this.#overflow();
    socket.destroy();
  }
}
