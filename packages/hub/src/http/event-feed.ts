// The events of the fleet for one client: from a cursor on, in order, only what it may see, and no more at once than it reads. While a
// client does not read, nothing is kept for it: once it reads again it gets what the fleet still holds, or is told to read lists anew.
import { formatCursor, type HubEvent, type HubEventMessage } from '@roost/protocol';
import { visibleEvent } from '../access/visible.ts';
import type { Principal } from '../access/principal.ts';
import { viewOrNull } from './find-node.ts';
import type { Fleet, FleetCursor } from '../fleet/fleet.ts';

/** Bytes that wait for a client before it gets no more. */
export const FEED_BUFFER_BYTES_MAX = 1024 * 1024;
/** Milliseconds after which a client that reads nothing is cut off. */
export const FEED_STALLED_MS = 30_000;

/** Where the events of one client go. */
export interface FeedSink {
  /** `text`: the event as JSON; empty for other messages. */
  send(message: HubEventMessage, text: string): void;
  /** Bytes that were sent and not taken yet. */
  readonly bufferedBytes: number;
}

export class EventFeed {
  readonly #fleet: Fleet;
  readonly #principal: Pick<Principal, 'scope'>;
  readonly #sink: FeedSink;
  readonly #endListening: () => void;
  #cursor: FleetCursor;
  /** When it came to be so, on the clock of `monotonicNow`; null: it reads. */
  #fullSince: number | null = null;
  readonly #monotonicNow: () => number;

  constructor(
    {
      fleet,
      principal,
      monotonicNow,
    }: { fleet: Fleet; principal: Pick<Principal, 'scope'>; monotonicNow: () => number },
    after: FleetCursor | null,
    sink: FeedSink,
  ) {
    this.#fleet = fleet;
    this.#principal = principal;
    this.#sink = sink;
    this.#monotonicNow = monotonicNow;
    this.#cursor = after ?? fleet.cursor();
    this.#endListening = fleet.onEvent((event) => {
      if (this.#fullSince === null) this.#take(event);
    });
    if (after === null) this.alive();
    else this.#catchUp();
  }

  close(): void {
    this.#endListening();
  }

  /** The client has read all that waited for it. */
  drained(): void {
    if (this.#fullSince === null) return;
    this.#fullSince = null;
    this.#catchUp();
  }

  /** Says that it is alive, and how far it is. */
  alive(): void {
    if (this.#fullSince === null) this.#send({ kind: 'alive', cursor: formatCursor(this.#cursor) });
  }

  get isStalled(): boolean {
    return this.#fullSince !== null && this.#monotonicNow() - this.#fullSince > FEED_STALLED_MS;
  }

  #catchUp(): void {
    const missed = this.#fleet.eventsAfter(this.#cursor);
    if (missed === null) {
      this.#cursor = this.#fleet.cursor();
      this.#send({ kind: 'resync', cursor: formatCursor(this.#cursor) });
      return;
    }
    for (const event of missed) {
      this.#take(event);
      // What follows is still held, and read from there.
      if (this.#isFull()) return;
    }
  }

  #take(event: HubEvent): void {
    this.#cursor = { run: event.run, id: event.id };
    const seen = visibleEvent(this.#principal, event, (nodeId) => viewOrNull(this.#fleet, nodeId));
    if (seen !== null) this.#send({ kind: 'event', cursor: formatCursor(this.#cursor), event: seen });
  }

  #send(message: HubEventMessage): void {
    this.#sink.send(message, textOf(message));
    if (this.#sink.bufferedBytes > FEED_BUFFER_BYTES_MAX) this.#fullSince ??= this.#monotonicNow();
  }

  /** Asked anew after each event. */
  #isFull(): boolean {
    return this.#fullSince !== null;
  }
}

/** Most events are seen whole by many clients: each is made into text once. */
const texts = new WeakMap<HubEvent, string>();

function textOf(message: HubEventMessage): string {
  if (message.kind !== 'event') return '';
  const text = texts.get(message.event) ?? JSON.stringify(message.event);
  texts.set(message.event, text);
  return text;
}
