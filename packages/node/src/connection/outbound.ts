// Everything that is sent to one connection. Answers go at once. What is pushed is pulled from its source only while the
// connection reads: a slow one costs no memory, it falls behind in the journal, skips screens, and reads output later. Bursts
// are short, so that its requests get their turn in between.
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import {
  EVENT_BURST_MAX,
  EventBody,
  failure,
  HIDDEN,
  NODE_FRAME_BYTES_MAX,
  type Incarnation,
  type NodeFrame,
  type Projection,
} from '@roost/protocol';
import type { Lanes, OutputSource, ScreenSource } from '../control/handlers.ts';
import { EventFollower, type EventSource } from '../events/follower.ts';
import type { StoredEvent } from '../events/stored-event.ts';
import { answerText, type Answer } from './answer-text.ts';
import { eventFrames, eventText } from './event-frames.ts';

/** Unread bytes above which nothing more is pushed. */
const WINDOW_BYTES = 256 * 1024;
/** Bytes of answers that a client may leave unread before it is let go. */
const UNREAD_ANSWER_BYTES_MAX = 32 * 1024 * 1024;

export interface OutboundOptions {
  readonly webSocket: WebSocket;
  /** What the WebSocket writes to: a burst leaves in one piece. */
  readonly socket: Socket;
  /** Frames of whoever made the connection are masked, each in its own way. */
  readonly masks: boolean;
  readonly events: EventSource;
  readonly incarnation: Incarnation;
  readonly projection: Projection;
  /** Answers pile up, or a source broke: the connection cannot be served. */
  readonly giveUp: (reason: 'answers-unread' | 'source-failed', error?: unknown) => void;
  /** An answer is longer than a frame may be: a fault of this node, since every answer has a bound. */
  readonly tooLong: () => void;
}

export class Outbound implements Lanes {
  readonly #options: OutboundOptions;
  readonly #showsAll: boolean;
  readonly #outputs = new Map<string, OutputSource>();
  #follower: EventFollower | null = null;
  /** Told before the next event. */
  #owedResync: { readonly floor: number; readonly last: number } | null = null;
  #screens: ScreenSource | null = null;
  #scheduled = false;
  #blocked = false;
  #closed = false;

  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#showsAll = options.projection.showsAll(EventBody);
  }

  answer(frame: Answer): void {
    const text = answerText(frame);
    if (exceeds(text, NODE_FRAME_BYTES_MAX)) {
      this.#options.tooLong();
      this.#sendFrame({ kind: 'failure', id: frame.id, failure: failure('internal-error') });
      return;
    }
    this.#send(text);
    if (this.#options.webSocket.bufferedAmount > UNREAD_ANSWER_BYTES_MAX)
      this.#options.giveUp('answers-unread');
  }

  followEvents(after: number): void {
    this.#owedResync = null;
    this.#follower?.close();
    const follower = new EventFollower(this.#options.events, after);
    follower.onReady(() => this.#wake());
    this.#follower = follower;
    this.#wake();
  }

  resyncEvents(floor: number, last: number): void {
    this.followEvents(last);
    this.#owedResync = { floor, last };
  }

  watchScreens(source: ScreenSource | null): void {
    this.#screens?.close();
    this.#screens = source;
    source?.onReady(() => this.#wake());
    this.#wake();
  }

  followOutput(key: string, source: OutputSource | null): void {
    this.#outputs.get(key)?.close();
    if (source === null) this.#outputs.delete(key);
    else {
      this.#outputs.set(key, source);
      source.onReady(() => this.#wake());
      this.#wake();
    }
  }

  /** Nothing is pushed any more. */
  close(): void {
    this.#closed = true;
    this.#follower?.close();
    this.#screens?.close();
    for (const source of this.#outputs.values()) source.close();
    this.#outputs.clear();
  }

  #wake(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (!this.#closed) this.#burst();
    });
  }

  /** A few of everything; comes again as long as there is something. */
  #burst(): void {
    const { webSocket, socket } = this.#options;
    if (webSocket.readyState !== webSocket.OPEN) return;
    if (webSocket.bufferedAmount > WINDOW_BYTES) {
      this.#blocked = true;
      return;
    }
    let sent = false;
    socket.cork();
    try {
      sent = this.#pushEvents();
      sent = this.#pushScreen() || sent;
      sent = this.#pushOutputs() || sent;
    } catch (error) {
      this.#options.giveUp('source-failed', error);
    } finally {
      socket.uncork();
    }
    if (sent) this.#wake();
  }

  #pushEvents(): boolean {
    if (this.#owedResync !== null) {
      this.#resync(this.#owedResync.floor, this.#owedResync.last);
      this.#owedResync = null;
    }
    const taken = this.#follower?.take(EVENT_BURST_MAX);
    if (taken === undefined) return false;
    if (taken.kind === 'resync') {
      this.#resync(taken.floor, taken.last);
      return true;
    }
    const { events } = taken;
    const texts = events.map((event) => this.#shown(event));
    if (!this.#options.masks && texts.every((text, index) => text === events[index]?.text))
      this.#sendAsStored(events);
    else for (const text of texts) if (text !== null) this.#send(eventText(text));
    return events.length > 0;
  }

  #shown(stored: StoredEvent): string | null {
    if (this.#showsAll) return stored.text;
    const event = stored.event();
    const body = this.#options.projection.show(EventBody, event.body);
    if (body === HIDDEN) return null;
    return body === event.body ? stored.text : JSON.stringify({ ...event, body });
  }

  #pushScreen(): boolean {
    const taken = this.#screens?.take() ?? null;
    if (taken === null) return false;
    this.#sendFrame({ kind: 'screen', ...taken });
    return true;
  }

  #pushOutputs(): boolean {
    let sent = false;
    for (const [key, source] of this.#outputs) {
      const chunk = source.take();
      if (chunk === null) continue;
      const { bytes, ...facts } = chunk;
      this.#sendFrame({ kind: 'output', ...facts, base64: Buffer.from(bytes).toString('base64') });
      if (chunk.ended) this.followOutput(key, null);
      sent = true;
    }
    return sent;
  }

  #resync(floor: number, last: number): void {
    this.#sendFrame({ kind: 'resync-required', floor, last, incarnation: this.#options.incarnation });
  }

  #sendFrame(frame: NodeFrame): void {
    this.#send(JSON.stringify(frame));
  }

  #send(text: string): void {
    const { webSocket } = this.#options;
    if (webSocket.readyState !== webSocket.OPEN) return;
    webSocket.send(text, this.#onSent);
  }

  /** Past the WebSocket, to its socket: whole frames, and without compression it never holds a part of one back. */
  #sendAsStored(events: readonly StoredEvent[]): void {
    const { webSocket, socket } = this.#options;
    if (events.length === 0 || webSocket.readyState !== webSocket.OPEN) return;
    socket.write(eventFrames(events), this.#onSent);
  }

  readonly #onSent = (): void => {
    if (!this.#blocked || this.#options.webSocket.bufferedAmount > WINDOW_BYTES) return;
    this.#blocked = false;
    this.#wake();
  };
}

/** UTF-8 takes one to three bytes for a unit of the text; most texts need no counting. */
function exceeds(text: string, bytesMax: number): boolean {
  if (text.length > bytesMax) return true;
  return text.length > bytesMax / 3 && Buffer.byteLength(text) > bytesMax;
}
