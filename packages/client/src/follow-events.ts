/**
 * The node's event journal as an endless stream that survives the node: after a loss it connects anew and goes on after
 * the last event that was delivered, so that none is missing and none comes twice. What the journal lost in between is told
 * as a resync in its place in the stream. Events of a kind that this client does not know are left out.
 * The first connection has to succeed: the stream ends with whatever that fails with.
 */
import { FailureError, type NodeEvent, type UnknownEvent } from '@roost/protocol';
import type { EventCursor, NodeConnection } from './connection.ts';
import { isPassing, Reconnecting, RetryPause } from './retry.ts';

export interface FollowOptions {
  /** Opens a connection of its own for the stream. */
  readonly connect: (signal: AbortSignal) => Promise<NodeConnection>;
  /** Events after this cursor are delivered. */
  readonly after: EventCursor;
  /** Ends the stream, without an error. */
  readonly signal: AbortSignal;
}

/**
 * The journal does not have what comes next: it was cut, or it is another one. Take a new snapshot; events after `last` follow.
 */
export interface Resync {
  readonly kind: 'resync';
  /** Oldest event that can still be had. */
  readonly floor: number;
  readonly last: number;
}

/** Events, and bytes of them, that may wait for a slow reader before the connection is held back. */
const WAITING_EVENTS_MAX = 1_000;
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

export function followEvents(options: FollowOptions): AsyncGenerator<NodeEvent | Resync, void, void> {
  const { connect, after, signal } = options;
  return followEventsOver(new Reconnecting(connect), after, signal);
}

/** The same, for whoever may have been connected before. */
export async function* followEventsOver(
  connections: Reconnecting<NodeConnection>,
  after: EventCursor,
  signal: AbortSignal,
): AsyncGenerator<NodeEvent | Resync, void, void> {
  let cursor = after;
  const pause = new RetryPause(signal);
  while (!signal.aborted) {
    const connection = await connections.attempt(signal);
    if (connection !== null) {
      try {
        for await (const { item, next } of itemsOf(connection, cursor, signal)) {
          pause.reset();
          cursor = next;
          if (item !== null) yield item;
        }
      } finally {
        connection.close();
      }
    }
    await pause.wait();
  }
}

interface Item {
  /** null: nothing to tell, but the cursor moves. */
  readonly item: NodeEvent | Resync | null;
  readonly next: EventCursor;
  readonly bytes: number;
}

/** What one connection delivers; ends with it. */
async function* itemsOf(
  connection: NodeConnection,
  after: EventCursor,
  signal: AbortSignal,
): AsyncGenerator<Item, void, void> {
  const waiting: Item[] = [];
  let waitingBytes = 0;
  let received = after.sequence;
  const state: { ended: boolean; error: unknown } = { ended: false, error: undefined };
  let wake: () => void = () => undefined;
  const add = (item: Item): void => {
    received = item.next.sequence;
    waiting.push(item);
    waitingBytes += item.bytes;
    if (waiting.length >= WAITING_EVENTS_MAX || waitingBytes >= WAITING_BYTES_MAX) connection.pause();
    wake();
  };
  const end = (): void => {
    state.ended = true;
    wake();
  };
  const forget = connection.onClose(end);
  signal.addEventListener('abort', end, { once: true });
  const onEvent = (event: NodeEvent | UnknownEvent, bytes: number): void => {
    // Within one subscription sequences only grow: a lower one was seen before.
    if (event.sequence <= received) return;
    const { sequence, incarnation } = event;
    add({ item: event.body === null ? null : event, next: { sequence, incarnation }, bytes });
  };
  connection
    .subscribeEvents(after, onEvent, ({ floor, last, incarnation }) =>
      add({ item: { kind: 'resync', floor, last }, next: { sequence: last, incarnation }, bytes: 0 }),
    )
    .catch((error: unknown) => {
      if (!isPassing(error)) state.error = error;
      end();
    });
  try {
    for (;;) {
      const item = waiting.shift();
      if (item !== undefined) {
        waitingBytes -= item.bytes;
        if (waiting.length === 0) connection.resume();
        yield item;
      } else if (state.error !== undefined) {
        throw state.error instanceof Error ? state.error : new FailureError('internal-error');
      } else if (state.ended) {
        return;
      } else {
        await new Promise<void>((resolve) => (wake = resolve));
      }
      if (signal.aborted) return;
    }
  } finally {
    forget();
    signal.removeEventListener('abort', end);
  }
}
