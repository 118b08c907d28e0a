// Server-sent events, paced. A client that hangs up ends the stream at once; a slow one is waited for.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export interface StreamEvent {
  /** Absent where the vendor's events have no name. */
  type?: string;
  /** A text is sent as it is: the mark of the end that some streams have. */
  data: Readonly<Record<string, unknown>> | string;
  /** A piece of the answer, which pacing applies to; the rest is scaffolding. */
  isPiece: boolean;
}

interface StreamPacing {
  delayMs?: number;
  cutAfter?: number;
}

export async function sendEvents(
  response: ServerResponse,
  events: Iterable<StreamEvent>,
  { delayMs = 0, cutAfter }: StreamPacing,
): Promise<void> {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  const { signal } = closed;
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    connection: 'keep-alive',
  });
  let sent = 0;
  try {
    for (const { type, data, isPiece } of events) {
      if (isPiece && sent++ === cutAfter) {
        // A comment, to know that all before it has left; destroying alone would drop what is still buffered.
        await new Promise((resolve) => response.write(': cut\n\n', resolve));
        response.destroy();
        return;
      }
      if (isPiece && delayMs > 0) await delay(delayMs, undefined, { signal });
      const name = type === undefined ? '' : `event: ${type}\n`;
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      if (!response.write(`${name}data: ${text}\n\n`)) await once(response, 'drain', { signal });
    }
    response.end();
  } catch (error) {
    // Aborted because the client left: nobody waits for the rest.
    if (!signal.aborted) throw error;
  }
}
