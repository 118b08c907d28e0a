/**
 * A hub as it is now: its lists, and the events after them folded in. It survives the hub and lost lines, and reads the lists again when
 * something was lost between. What is shown meanwhile is the last that was known, and says so.
 */
import { FailureError, type HubEvent, type NodeId } from '@roost/protocol';
import { RetryPause } from '../retry.ts';
import { followHub } from './follow-hub.ts';
import type { HubApi } from './hub-api.ts';
import { foldHubEvents, replaceNode, viewOf, type HubLists, type HubView } from './hub-view.ts';
import { readHub } from './read-hub.ts';

/** Events that wait to be folded together: what is scheduled may come late, such as in a page that nobody sees. */
const WAITING_EVENTS_MAX = 500;

export interface MirrorState {
  /** null: not everything was read yet. */
  readonly view: HubView | null;
  /** What there is to show meanwhile, of a hub with much: the first pages of its lists. null: nothing yet, or there is a view. */
  readonly beginning: HubView | null;
  /** connecting: for the first time. live: the view is that of now. lost: it is that of `since`, and the line is tried again. ended: no more. */
  readonly line: 'connecting' | 'live' | 'lost' | 'ended';
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Why it is lost or ended. */
  readonly error: FailureError | null;
}

export interface HubMirrorOptions {
  readonly api: HubApi;
  readonly now: () => number;
  /** Calls soon, once: events that come together are shown together. */
  readonly schedule: (call: () => void) => void;
}

export class HubMirror {
  readonly #options: HubMirrorOptions;
  readonly #listeners = new Set<() => void>();
  readonly #eventListeners = new Set<(event: HubEvent) => void>();
  #state: MirrorState;
  #waiting: HubEvent[] = [];
  #isScheduled = false;

  constructor(options: HubMirrorOptions) {
    this.#options = options;
    this.#state = this.#nothing();
  }

  readonly state = (): MirrorState => this.#state;

  /** Told of every new state. Answers how to no longer be told. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Told of every event as it comes. Answers how to no longer be told. */
  onEvent(listener: (event: HubEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  /** Mirrors until the signal aborts, or nothing helps any more; it may be run again after that, and begins with nothing then. */
  async run(signal: AbortSignal): Promise<void> {
    this.#set(this.#nothing());
    try {
      for await (const news of followHub({ api: this.#options.api, signal })) {
        switch (news.kind) {
          case 'connected':
            if (this.#state.view === null) await this.#read(signal);
            else this.#setLine('live', null);
            break;
          case 'resync':
            await this.#read(signal);
            break;
          case 'lost':
            if (this.#state.line !== 'lost' || this.#state.error?.failure.code !== news.error.failure.code)
              this.#setLine('lost', news.error);
            break;
          case 'event':
            this.#take(news.event, signal);
        }
      }
    } catch (error) {
      if (!signal.aborted)
        this.#setLine('ended', error instanceof FailureError ? error : new FailureError('internal-error'));
    }
  }

  /** Events that come meanwhile wait in the stream: each carries the state after it. */
  async #read(signal: AbortSignal): Promise<void> {
    const pause = new RetryPause(signal);
    for (;;) {
      try {
        const lists = await readHub(this.#options.api, {
          signal,
          onBeginning: (first) => this.#begin(first),
        });
        this.#waiting = [];
        const since = this.#options.now();
        this.#set({ view: viewOf(lists), beginning: null, line: 'live', since, error: null });
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof FailureError) || error.failure.code === 'unauthenticated') throw error;
        this.#setLine('lost', error);
      }
      await pause.wait();
    }
  }

  #begin(lists: HubLists): void {
    if (this.#state.view === null) this.#set({ ...this.#state, beginning: viewOf(lists) });
  }

  #take(event: HubEvent, signal: AbortSignal): void {
    for (const listener of this.#eventListeners) listener(event);
    if (event.body.kind === 'node-resynced') void this.#readNode(event.nodeId, signal);
    this.#waiting.push(event);
    if (this.#waiting.length >= WAITING_EVENTS_MAX) this.#foldNow();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.schedule(() => {
      this.#isScheduled = false;
      this.#foldNow();
    });
  }

  #foldNow(): void {
    const events = this.#waiting.splice(0);
    const { view } = this.#state;
    if (view === null) return;
    const next = foldHubEvents(view, events);
    if (next !== view) this.#set({ ...this.#state, view: next });
  }

  /** What fails here is put right by the next reading: the hub tells when the node is there again. */
  async #readNode(nodeId: NodeId, signal: AbortSignal): Promise<void> {
    const lists = await readHub(this.#options.api, { signal, nodeId }).catch(() => null);
    this.#foldNow();
    const { view } = this.#state;
    if (lists !== null && view !== null)
      this.#set({ ...this.#state, view: replaceNode(view, nodeId, lists) });
  }

  #setLine(line: MirrorState['line'], error: FailureError | null): void {
    if (this.#state.line === line && this.#state.error === error) return;
    const { since } = this.#state;
    // What is lost stays of the moment at which it was last right.
    const isStillLost = line === 'lost' && this.#state.line === 'lost';
    this.#set({ ...this.#state, line, error, since: isStillLost ? since : this.#options.now() });
  }

  #nothing(): MirrorState {
    return { view: null, beginning: null, line: 'connecting', since: this.#options.now(), error: null };
  }

  #set(state: MirrorState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
