/**
 * How a hub tells its events over HTTP, as server-sent events and over a WebSocket:
 *
 *   GET /api/v1/events     id: RUN-ID             GET /api/v1/events/ws    {"kind": "event", "cursor": "RUN-ID", "event": {...}}
 *                          data: {HubEvent}
 *                          event: resync                                   {"kind": "resync", "cursor": "RUN-ID"}
 *                          event: alive                                    {"kind": "alive", "cursor": "RUN-ID"}
 *
 * `?after=RUN-ID` (or `Last-Event-ID`) goes on after a cursor. `alive` is the first that comes without one, and comes again as long as there is
 * nothing else: a cursor moves on, although events that one may not see are left out.
 */
import * as z from 'zod';
import { lazySchema } from '../lazy-schema.ts';
import { HubEvent } from './views.ts';

export const HUB_EVENTS_PATH = '/api/v1/events';
export const HUB_EVENTS_SOCKET_PATH = '/api/v1/events/ws';

/** Milliseconds after which a stream without events says that it is alive. */
export const HUB_ALIVE_MS = 15_000;

/** A place among the hub's events. */
export const HubCursor = z.string().regex(/^[0-9a-f]{16}-\d{1,15}$/, 'a cursor is RUN-ID');

export const HubEventMessage = lazySchema(() =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('event'), cursor: HubCursor, event: HubEvent }),
    /** The events after the cursor are not all held any more, or it is of another start of the hub: lists are to be read anew. */
    z.object({ kind: z.literal('resync'), cursor: HubCursor }),
    z.object({ kind: z.literal('alive'), cursor: HubCursor }),
  ]),
);
export type HubEventMessage = z.infer<typeof HubEventMessage>;

export const formatCursor = ({ run, id }: { readonly run: string; readonly id: number }): string =>
  `${run}-${id}`;

/** null: it is none. */
export function parseCursor(text: string): { readonly run: string; readonly id: number } | null {
  if (!HubCursor.safeParse(text).success) return null;
  const [run = '', id] = text.split('-');
  return { run, id: Number(id) };
}
