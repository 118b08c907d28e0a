// Sends one listener every durable event after a sequence: first those of the journal, page by page at the speed of the
// reader, then live ones. The last (short) page and the start of listening are one synchronous step, so nothing falls between
// and nothing comes twice.
import { EVENTS_PAGE_MAX, type NodeEvent } from '@roost/protocol';

/** Bytes of unread events after which a reader is let go: it may come back and continue from its last sequence. */
export const UNREAD_EVENT_BYTES_MAX = 8 * 1024 * 1024;

export interface EventSource {
  read(after: number, limit: number): NodeEvent[];
  onEvent(listener: (event: NodeEvent) => void): () => void;
}

export interface EventSink {
  /** `sent` is called when the bytes have left the process, with an error when they never will. */
  send(event: NodeEvent, sent?: (error?: Error | null) => void): void;
  unreadBytes(): number;
  /** Nothing is sent any more: the reader is too slow for live events, or the journal cannot be read. */
  giveUp(): void;
}

export class EventFollower {
  readonly #source: EventSource;
  readonly #sink: EventSink;
  #last: number;
  #stopped = false;
  #unsubscribe: (() => void) | null = null;

  constructor(source: EventSource, after: number, sink: EventSink) {
    this.#source = source;
    this.#sink = sink;
    this.#last = after;
    // Not at once: the answer to the request goes first.
    setImmediate(() => {
      this.#replay().catch(() => this.#giveUp());
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#unsubscribe?.();
  }

  async #replay(): Promise<void> {
    for (;;) {
      if (this.#stopped) return;
      const page = this.#source.read(this.#last, EVENTS_PAGE_MAX);
      if (page.length === 0) {
        this.#unsubscribe = this.#source.onEvent((event) => this.#live(event));
        return;
      }
      this.#last = page.at(-1)?.sequence ?? this.#last;
      await this.#sendPage(page);
    }
  }

  #giveUp(): void {
    this.stop();
    this.#sink.giveUp();
  }

  #sendPage(page: readonly NodeEvent[]): Promise<void> {
    return new Promise((resolve) => {
      for (const [index, event] of page.entries()) {
        if (index < page.length - 1) this.#sink.send(event);
        else
          this.#sink.send(event, (error) => {
            if (error) this.stop();
            resolve();
          });
      }
    });
  }

  #live(event: NodeEvent): void {
    if (this.#stopped || event.sequence <= this.#last) return;
    if (this.#sink.unreadBytes() > UNREAD_EVENT_BYTES_MAX) {
      this.#giveUp();
      return;
    }
    this.#last = event.sequence;
    this.#sink.send(event);
  }
}
