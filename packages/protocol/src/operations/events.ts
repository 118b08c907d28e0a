import * as z from 'zod';
import { EVENTS_PAGE_MAX } from '../bounds.ts';
import { NodeEvent } from '../events.ts';
import { operation } from '../operation.ts';

export const eventsRead = operation({
  name: 'events.read',
  summary: 'Reads a page of the durable event journal after a sequence.',
  access: 'observer',
  capability: 'event-journal-v1',
  params: z.strictObject({
    /** Events with a greater sequence are read; below zero counts from the end. */
    after: z.int().default(0),
    limit: z.int().positive().max(EVENTS_PAGE_MAX).default(EVENTS_PAGE_MAX),
  }),
  result: z.object({
    events: z.array(NodeEvent),
    /** Oldest sequence in the journal. */
    floor: z.int().nonnegative(),
    last: z.int().nonnegative(),
  }),
  failures: [],
});

export const eventsSubscribe = operation({
  name: 'events.subscribe',
  summary:
    'Sends this connection every durable event after a sequence: first the kept ones, then live ones, in order.',
  access: 'observer',
  capability: 'event-journal-v1',
  params: z.strictObject({ after: z.int().nonnegative() }),
  result: z.object({ last: z.int().nonnegative() }),
  failures: [],
});
