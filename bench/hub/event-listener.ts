/** One client of a hub's events that looks at as little of each as shows what is missing and how long it took. */
import type { HubTarget } from '@roost/client';
import { HUB_EVENTS_SOCKET_PATH } from '@roost/protocol';
import WebSocket, { type RawData } from 'ws';

/** What the name of a session begins with whose event is one of ours; then the number of the event and the time in microseconds. */
const MARK = '"name":"event.';
const CURSOR = '"cursor":"';
const RUN_DIGITS = 16;
const NUMBERS_BYTES_MAX = 48;

export interface EventDelays {
  /** Milliseconds from the event to the client that had it last, by the number of the event. */
  readonly slowest: Float64Array;
}

export class EventListener {
  readonly #webSocket: WebSocket;
  readonly #delays: EventDelays;
  #lastId = -1;
  #received = 0;
  #inOrder = true;
  #wake: () => void = () => undefined;

  private constructor(webSocket: WebSocket, delays: EventDelays) {
    this.#webSocket = webSocket;
    this.#delays = delays;
    webSocket.on('message', (data) => this.#take(data));
    webSocket.on('close', () => this.#wake());
  }

  /** Resolves when it hears what comes from now on. */
  static async open(
    { url, token }: Extract<HubTarget, { token: string }>,
    delays: EventDelays,
  ): Promise<EventListener> {
    const address = new URL(HUB_EVENTS_SOCKET_PATH, url);
    address.protocol = 'ws:';
    const webSocket = new WebSocket(address, {
      perMessageDeflate: false,
      headers: { authorization: `Bearer ${token}` },
    });
    const listener = new EventListener(webSocket, delays);
    await new Promise<void>((resolve, reject) => {
      // It says first how far it is.
      webSocket.once('message', () => resolve());
      webSocket.once('error', reject);
    });
    return listener;
  }

  /** Of ours. */
  get received(): number {
    return this.#received;
  }

  /** Nothing was missing, nothing came twice, of whatever kind. */
  get inOrder(): boolean {
    return this.#inOrder;
  }

  /** Resolves when so many of ours have come, or the line is gone. */
  async until(events: number): Promise<void> {
    while (this.#received < events && this.#webSocket.readyState === WebSocket.OPEN) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  close(): void {
    this.#webSocket.terminate();
  }

  #take(data: RawData): void {
    if (!Buffer.isBuffer(data)) return;
    const kind = data.toString('latin1', 0, 16);
    const id = parseInt(textAfter(data, CURSOR).slice(RUN_DIGITS + 1), 10);
    if (!kind.startsWith('{"kind":"event"')) {
      this.#inOrder &&= kind.startsWith('{"kind":"alive"');
      this.#lastId = id;
      return;
    }
    this.#inOrder &&= id === this.#lastId + 1;
    this.#lastId = id;
    const [number, microseconds] = textAfter(data, MARK).split('.', 2).map(Number);
    if (number === undefined || microseconds === undefined) return;
    this.#received += 1;
    const delay = performance.timeOrigin + performance.now() - microseconds / 1_000;
    const { slowest } = this.#delays;
    slowest[number] = Math.max(slowest[number] ?? 0, delay);
    this.#wake();
  }
}

function textAfter(data: Buffer, mark: string): string {
  const at = data.indexOf(mark);
  return at < 0 ? '' : data.toString('latin1', at + mark.length, at + mark.length + NUMBERS_BYTES_MAX);
}
