/**
 * The node's event journal as an endless stream that survives the node: after a loss it connects anew and goes on after
 * the last event that was delivered, so that none is missing and none comes twice. Events of a kind that this client does not
 * know are left out.
 */
import { FailureError, type NodeEvent, type UnknownEvent } from '@roost/protocol';
import type { NodeConnection } from './connection.ts';

export interface FollowOptions {
  /** Opens a connection of its own for the stream. */
  readonly connect: (signal: AbortSignal) => Promise<NodeConnection>;
  /** Events with a greater sequence are delivered. */
  readonly after: number;
  /** Ends the stream, without an error. */
  readonly signal: AbortSignal;
}

/** Events that may wait for a slow reader before the connection is held back. */
const WAITING_EVENTS_MAX = 1_000;
/** Milliseconds between attempts to connect; doubles up to the second. */
const RETRY_MS = { first: 50, last: 2_000 } as const;

export async function* followEvents(options: FollowOptions): AsyncGenerator<NodeEvent, void, void> {
  const { connect, signal } = options;
  let delivered = options.after;
  let retryMs: number = RETRY_MS.first;
  while (!signal.aborted) {
    const connection = await connect(signal).catch((error: unknown) => {
      if (signal.aborted || isPassing(error)) return undefined;
      throw error;
    });
    if (connection === undefined) {
      await pauseFor(retryMs, signal);
      retryMs = Math.min(retryMs * 2, RETRY_MS.last);
      continue;
    }
    try {
      for await (const event of eventsOf(connection, delivered, signal)) {
        retryMs = RETRY_MS.first;
        if (event === 'journal-restarted') {
          delivered = 0;
          break;
        }
        delivered = event.sequence;
        if (event.body !== null) yield event;
      }
    } finally {
      connection.close();
    }
    await pauseFor(retryMs, signal);
  }
}

/** What one connection delivers; ends with it. */
async function* eventsOf(
  connection: NodeConnection,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<NodeEvent | UnknownEvent | 'journal-restarted', void, void> {
  const waiting: (NodeEvent | UnknownEvent)[] = [];
  let received = after;
  const state = { ended: false, restarted: false };
  let wake: () => void = () => undefined;
  const end = (): void => {
    state.ended = true;
    wake();
  };
  const forget = connection.onClose(end);
  signal.addEventListener('abort', end, { once: true });
  connection
    .subscribeEvents(after, (event) => {
      // The journal counts without gaps: a lower number was seen before.
      if (event.sequence <= received) return;
      received = event.sequence;
      waiting.push(event);
      if (waiting.length >= WAITING_EVENTS_MAX) connection.pause();
      wake();
    })
    .then(({ last }) => {
      // A journal that is behind its reader is another one: the state directory was made anew.
      if (last < after) {
        state.restarted = true;
        end();
      }
    })
    .catch(end);
  try {
    for (;;) {
      const event = waiting.shift();
      if (event !== undefined) {
        if (waiting.length === 0) connection.resume();
        yield event;
      } else if (state.ended) {
        if (state.restarted) yield 'journal-restarted';
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

/** Whether trying again can help. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof FailureError)) return false;
  switch (error.failure.code) {
    case 'node-not-running':
    case 'node-unresponsive':
    case 'connection-lost':
    case 'connections-exhausted':
    case 'shutting-down':
      return true;
    default:
      return false;
  }
}

function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done, { once: true });
  });
}
