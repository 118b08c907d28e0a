/**
 * One connection that follows events and looks at as little of each as shows what is missing and how long it took, so that many of
 * them fit into one process.
 */
import WebSocket, { type RawData } from 'ws';
import { openBare, type NodeTarget } from './bare-connection.ts';

/** What every event frame begins with. */
const PREFIX = '{"kind":"event","event":{"sequence":';
const TITLE = '"title":"';
/** One event in so many has its time taken. */
const TIMED_EVERY = 10;

export class EventReader {
  readonly latencies: number[] = [];
  readonly #webSocket: WebSocket;
  #last: number;
  #received = 0;
  #inOrder = true;
  #wake: () => void = () => undefined;

  private constructor(webSocket: WebSocket, last: number) {
    this.#webSocket = webSocket;
    this.#last = last;
    webSocket.on('message', (data) => this.#take(data));
    webSocket.on('close', () => this.#wake());
  }

  /** Follows what comes from now on. */
  static async open(target: NodeTarget): Promise<EventReader> {
    const { webSocket, sequence } = await openBare(target);
    const reader = new EventReader(webSocket, sequence);
    const params = { after: sequence };
    webSocket.send(JSON.stringify({ kind: 'request', id: 1, operation: 'events.subscribe', params }));
    return reader;
  }

  get received(): number {
    return this.#received;
  }

  /** Nothing was missing, nothing came twice. */
  get inOrder(): boolean {
    return this.#inOrder;
  }

  /** Resolves when this event has come, or the connection is gone. */
  async until(sequence: number): Promise<void> {
    while (this.#last < sequence && this.#webSocket.readyState === WebSocket.OPEN) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  close(): void {
    this.#webSocket.terminate();
  }

  #take(data: RawData): void {
    if (!Buffer.isBuffer(data) || data.toString('latin1', 0, PREFIX.length) !== PREFIX) return;
    const sequence = parseInt(data.toString('latin1', PREFIX.length, PREFIX.length + 16), 10);
    this.#inOrder &&= sequence === this.#last + 1;
    this.#last = sequence;
    this.#received += 1;
    if (sequence % TIMED_EVERY === 0) {
      const at = data.indexOf(TITLE);
      const sentAt = Number.parseFloat(data.toString('latin1', at + TITLE.length, at + TITLE.length + 24));
      this.latencies.push(performance.timeOrigin + performance.now() - sentAt);
    }
    this.#wake();
  }
}
