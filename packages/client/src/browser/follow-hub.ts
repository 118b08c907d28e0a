/**
 * A hub's events as an endless stream that survives the hub: after a loss it connects anew and goes on after the last cursor, so that none is
 * missing and none comes twice. What cannot be had any more is told as a resync in its place.
 */
import {
  FailureError,
  HUB_ALIVE_MS,
  HUB_EVENTS_PATH,
  HubCursor,
  HubEvent,
  type FailureCode,
} from '@roost/protocol';
import { ONE_SHOT, parseJsonText } from '../frame-value.ts';
import { RetryPause } from '../retry.ts';
import { EventStreamReader, type StreamMessage } from './event-stream.ts';
import type { HubApi } from './hub-api.ts';

export type HubNews =
  /** The line is there: events after the cursor follow. Without one before it, lists that are read from now on are continued by them. */
  | { readonly kind: 'connected' }
  | { readonly kind: 'event'; readonly event: HubEvent }
  /** Read the lists anew: what was between is not held any more. */
  | { readonly kind: 'resync' }
  /** It is tried again. */
  | { readonly kind: 'lost'; readonly error: FailureError };

export interface FollowHubOptions {
  readonly api: Pick<HubApi, 'open'>;
  /** Ends the stream, without an error. */
  readonly signal: AbortSignal;
}

/** Milliseconds without any sign of life after which a line counts as lost. */
const SILENCE_MS = 3 * HUB_ALIVE_MS;

/** What time does not heal: somebody has to log in, or it is no hub. */
const FINAL: ReadonlySet<FailureCode> = new Set(['unauthenticated', 'forbidden', 'origin-refused']);

/** @throws FailureError: unauthenticated and the like, which no waiting heals. */
export async function* followHub({ api, signal }: FollowHubOptions): AsyncGenerator<HubNews, void, void> {
  const pause = new RetryPause(signal);
  const place: Place = { cursor: null };
  while (!isOver(signal)) {
    try {
      for await (const news of newsOf(api, place, signal)) {
        if (news.kind === 'connected') pause.reset();
        yield news;
      }
    } catch (error) {
      if (isOver(signal)) return;
      const told = error instanceof FailureError ? error : new FailureError('hub-unreachable');
      if (FINAL.has(told.failure.code)) throw told;
      yield { kind: 'lost', error: told };
    }
    await pause.wait();
  }
}

/** Where the stream is; moves on with every message. */
interface Place {
  cursor: string | null;
}

/** What one connection tells; throws at its end. */
async function* newsOf(
  api: Pick<HubApi, 'open'>,
  place: Place,
  signal: AbortSignal,
): AsyncGenerator<HubNews, void, void> {
  const line = new AbortController();
  const isEither = AbortSignal.any([signal, line.signal]);
  const silence = new Watch(SILENCE_MS, () => line.abort(new FailureError('hub-unreachable')));
  try {
    const query = place.cursor === null ? '' : `?after=${place.cursor}`;
    const response = await api.open(HUB_EVENTS_PATH + query, { accept: 'text/event-stream' }, isEither);
    if (response.body === null) throw new FailureError('hub-unreachable');
    const reader = new EventStreamReader();
    const text = response.body.pipeThrough(new TextDecoderStream()).getReader();
    // Without a cursor the first message tells one; with it, whatever is left out is told as a resync.
    if (place.cursor !== null) yield { kind: 'connected' };
    for (;;) {
      const { done, value } = await text.read();
      if (done) throw new FailureError('hub-unreachable');
      silence.restart();
      for (const message of reader.push(value)) {
        const isFirst = place.cursor === null;
        const news = readNews(message);
        if (HubCursor.safeParse(message.id, ONE_SHOT).success) place.cursor = message.id;
        if (isFirst) yield { kind: 'connected' };
        if (news !== null) yield news;
      }
    }
  } finally {
    silence.stop();
    line.abort();
  }
}

/** null: nothing to tell, such as an event of a kind that a newer hub has. */
function readNews({ event, data }: StreamMessage): HubNews | null {
  if (event === 'resync') return { kind: 'resync' };
  if (event !== 'message') return null;
  const parsed = HubEvent.safeParse(parseJsonText(data), ONE_SHOT).data;
  return parsed === undefined ? null : { kind: 'event', event: parsed };
}

/** Calls once when it was not restarted for so many milliseconds. */
class Watch {
  readonly #milliseconds: number;
  readonly #onOver: () => void;
  #timer: ReturnType<typeof setTimeout>;

  constructor(milliseconds: number, onOver: () => void) {
    this.#milliseconds = milliseconds;
    this.#onOver = onOver;
    this.#timer = setTimeout(onOver, milliseconds);
  }

  restart(): void {
    this.stop();
    this.#timer = setTimeout(this.#onOver, this.#milliseconds);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** A function: it may change during every wait. */
function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}
