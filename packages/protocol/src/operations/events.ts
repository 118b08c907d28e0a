import * as z from 'zod';
import { EVENTS_PAGE_MAX } from '../bounds.ts';
import { NodeEvent } from '../events.ts';
import { Incarnation } from '../ids.ts';
import { operation } from '../operation.ts';

export const eventsRead = operation({
  name: 'events.read',
  summary: 'Reads a page of the durable event journal after a sequence.',
  access: 'observer',
  capability: 'event-journal-v1',
  params: () =>
    z.strictObject({
      /** Events with a greater sequence are read; below zero counts from the end. */
      after: z.int().default(0),
      limit: z.int().positive().max(EVENTS_PAGE_MAX).default(EVENTS_PAGE_MAX),
    }),
  result: () =>
    z.object({
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
    'Sends this connection every durable event after a cursor: first the kept ones, then live ones, in order, each once. Replaces an earlier subscription.',
  access: 'observer',
  capability: 'event-journal-v1',
  params: () =>
    z.strictObject({
      /** Sequence of the last event that was seen; 0 for all. */
      after: z.int().nonnegative(),
      /** Incarnation of that event: notices a journal that is not the one that was read before. */
      incarnation: Incarnation.optional(),
    }),
  result: () =>
    z.object({
      last: z.int().nonnegative(),
      floor: z.int().nonnegative(),
      /** The cursor can not be continued: `resync-required` follows, and then what comes after `last`. */
      resyncRequired: z.boolean(),
    }),
  failures: [],
});
