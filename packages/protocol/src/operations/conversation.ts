// Sessions that are spoken with instead of typed to: what was said, what is asked, what can be chosen.
import * as z from 'zod';
import { AGENT_NAME_BYTES_MAX } from '../agent-event.ts';
import { boundedText } from '../bounded-text.ts';
import { WAIT_MS_MAX } from '../bounds.ts';
import { InteractionId, SessionAddress, SessionId } from '../ids.ts';
import { Interaction, InteractionReply } from '../interaction.ts';
import { operation } from '../operation.ts';
import { TIMELINE_PAGE_BYTES_MAX, TimelineEntry } from '../timeline.ts';

export const sessionReadTimeline = operation({
  name: 'session.readTimeline',
  summary: 'Reads what an agent said and did, in order, from a position on; can wait for more.',
  access: 'operator',
  capability: 'agent-conversation-v1',
  params: () =>
    z.strictObject({
      sessionId: SessionId,
      /** Position of the first entry that is wanted; below zero: entries of about that many last bytes. */
      from: z.int().default(0),
      maxBytes: z.int().positive().max(TIMELINE_PAGE_BYTES_MAX).default(TIMELINE_PAGE_BYTES_MAX),
      /** Milliseconds to wait when nothing is there yet. */
      waitMs: z.int().nonnegative().max(WAIT_MS_MAX).default(0),
    }),
  result: () =>
    z.object({
      entries: z.array(TimelineEntry),
      /** Where to go on. */
      next: z.int().nonnegative(),
      /** Oldest position still kept: an earlier `from` begins there. */
      floor: z.int().nonnegative(),
      /** No more will come. */
      ended: z.boolean(),
    }),
  failures: ['unknown-session', 'unsupported-transport'],
});

export const sessionChoose = operation({
  name: 'session.choose',
  summary: 'Chooses among what an agent offers: its model, its mode, an option of its own.',
  access: 'controller',
  capability: 'acp-control-v1',
  params: () =>
    SessionAddress.extend({
      choice: boundedText(AGENT_NAME_BYTES_MAX).min(1),
      id: boundedText(AGENT_NAME_BYTES_MAX).min(1),
    }),
  result: () => z.object({}),
  failures: [
    'unknown-session',
    'session-workspace-mismatch',
    'stale-generation',
    'session-not-running',
    'unsupported-transport',
    'unknown-choice',
    'keeper-unavailable',
  ],
});

export const interactionList = operation({
  name: 'interaction.list',
  summary: 'Lists what agents ask of a person, those that wait longest first; settled ones on demand.',
  access: 'operator',
  capability: 'agent-conversation-v1',
  params: () =>
    z.strictObject({ sessionId: SessionId.optional(), includeSettled: z.boolean().default(false) }),
  result: () => z.object({ interactions: z.array(Interaction), truncated: z.boolean() }),
  failures: ['unknown-session'],
});

export const interactionResolve = operation({
  name: 'interaction.resolve',
  summary: 'Answers what an agent asks, once; answers when the agent has got it.',
  access: 'controller',
  capability: 'agent-conversation-v1',
  params: () => z.strictObject({ interactionId: InteractionId, reply: InteractionReply }),
  result: () => Interaction,
  failures: [
    'unknown-interaction',
    'interaction-settled',
    'interaction-reply-refused',
    'session-not-running',
    'keeper-unavailable',
    'input-stalled',
  ],
});
