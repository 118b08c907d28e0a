// Places for sockets that have not proved themselves, of one way in: strangers who crowd a port keep nobody from the owner's
// socket. Who finds none waits, unread, in a short line; and while somebody waits, a
// place is nobody's for longer than a moment: peers that connect and say nothing cannot keep the others out.
import type { Socket } from 'node:net';
import { PREAUTH_CONNECTIONS_MAX } from '@roost/protocol';

/** Sockets that may wait for a place. */
const WAITING_MAX = 128;
/** Milliseconds for which a place is kept while others wait: a client that means it has proved itself long before. */
const MOMENT_MS = 500;

interface Waiting {
  readonly socket: Socket;
  readonly serve: () => void;
}

export interface PreauthSlotsOptions {
  /** A socket was cut off unheard: the line was full. */
  readonly overflow: () => void;
  /** One gave way to another. */
  readonly evicted: () => void;
}

export class PreauthSlots {
  readonly #options: PreauthSlotsOptions;
  /** Who holds a place, and since when; the oldest first. */
  readonly #holders = new Map<Socket, number>();
  readonly #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(options: PreauthSlotsOptions) {
    this.#options = options;
  }

  get held(): number {
    return this.#holders.size;
  }

  /** Serves a paused socket, at once or when its turn comes. */
  take(socket: Socket, serve: () => void): void {
    socket.once('close', () => this.#gone(socket));
    // An error of a socket that nobody serves yet would be thrown.
    socket.on('error', () => socket.destroy());
    if (this.#holders.size < PREAUTH_CONNECTIONS_MAX) this.#serve({ socket, serve });
    else if (this.#waiting.length < WAITING_MAX) {
      this.#waiting.push({ socket, serve });
      this.#relieve();
    } else {
      this.#options.overflow();
      socket.destroy();
    }
  }

  /** It has proved itself, or it is gone. */
  give(socket: Socket): void {
    if (!this.#holders.delete(socket)) return;
    const next = this.#waiting.shift();
    if (next !== undefined) this.#serve(next);
    this.#relieve();
  }

  /** Nobody is served any more; those that have not proved themselves by now neither. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const { socket } of this.#waiting.splice(0)) socket.destroy();
    for (const socket of [...this.#holders.keys()]) socket.destroy();
  }

  #serve({ socket, serve }: Waiting): void {
    this.#holders.set(socket, performance.now());
    serve();
  }

  /** While somebody waits: whoever has held a place for a moment gives way, now or when the moment is over. */
  #relieve(): void {
    if (this.#timer !== null || this.#waiting.length === 0) return;
    const [oldest] = this.#holders;
    if (oldest === undefined) return;
    const [socket, since] = oldest;
    const left = since + MOMENT_MS - performance.now();
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        if (this.#waiting.length > 0 && this.#holders.get(socket) === since) {
          this.#options.evicted();
          socket.destroy();
          this.give(socket);
        } else this.#relieve();
      },
      Math.max(0, left),
    );
  }

  #gone(socket: Socket): void {
    const at = this.#waiting.findIndex((one) => one.socket === socket);
    if (at >= 0) this.#waiting.splice(at, 1);
    this.give(socket);
  }
}
