/** What an agent said and did in one session, in order, as it is kept. */
import * as z from 'zod';
import { AgentEvent } from './agent-event.ts';
import { lazySchema } from './lazy-schema.ts';

/** Bytes of timeline in one page. An entry is never larger. */
export const TIMELINE_PAGE_BYTES_MAX = 512 * 1024;

/** In the events of a timeline, `requestId` is the id of the interaction. */
export const TimelineEntry = lazySchema(() =>
  z.object({
    /** Where it stands: grows with every entry, not by one. */
    position: z.int().nonnegative(),
    at: z.iso.datetime(),
    event: AgentEvent,
  }),
);
export type TimelineEntry = z.infer<typeof TimelineEntry>;
