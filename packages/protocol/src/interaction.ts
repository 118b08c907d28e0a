/** What an agent asks of a person: may it do something, or what is the answer to a question. Asked once, answered once. */
import * as z from 'zod';
import {
  AGENT_LIST_MAX,
  AGENT_NAME_BYTES_MAX,
  AGENT_SENTENCE_BYTES_MAX,
  AGENT_TEXT_BYTES_MAX,
  InteractionKind,
  InteractionOption,
} from './agent-event.ts';
import { boundedText } from './bounded-text.ts';
import { ProviderId } from './gates.ts';
import { InteractionId, SessionAddress, SessionName } from './ids.ts';
import { lazySchema } from './lazy-schema.ts';

/** Milliseconds after which an unanswered request can be refused by itself: a second to 30 days. */
export const INTERACTION_DEADLINE_MS_MIN = 1_000;
export const INTERACTION_DEADLINE_MS_MAX = 30 * 24 * 3_600 * 1_000;
/** Rules of one session. */
export const INTERACTION_RULES_MAX = 64;
/** Interactions in one answer: those that wait come first. */
export const INTERACTIONS_LISTED_MAX = 256;
/** Settled interactions of one session that are remembered, so that a late answer learns what became of it. */
export const INTERACTIONS_KEPT_MAX = 256;

/** pending: waits for an answer. answered: it got one. withdrawn: nobody needs an answer any more. expired: refused when its time was over. */
export const InteractionState = z.enum(['pending', 'answered', 'withdrawn', 'expired']);
export type InteractionState = z.infer<typeof InteractionState>;

/** Who answered: a client of this node, a rule of the session, its deadline. null: nobody, or not through Roost. */
export const InteractionAnswerer = z.enum(['person', 'rule', 'deadline']);
export type InteractionAnswerer = z.infer<typeof InteractionAnswerer>;

/** What everybody may know of it: names and codes, no text of the agent. */
const summary = () =>
  z.object({
    id: InteractionId,
    session: SessionAddress,
    provider: ProviderId,
    interaction: InteractionKind,
    /** The tool that it is about. */
    tool: boundedText(AGENT_NAME_BYTES_MAX).nullable(),
    state: InteractionState,
    askedAt: z.iso.datetime(),
    /** When it is refused by itself; null: it waits for as long as the session lives. */
    expiresAt: z.iso.datetime().nullable(),
    settledAt: z.iso.datetime().nullable(),
    outcome: z.enum(['approved', 'refused', 'answered', 'withdrawn']).nullable(),
    answeredBy: InteractionAnswerer.nullable(),
  });
export const InteractionSummary = lazySchema(summary);
export type InteractionSummary = z.infer<typeof InteractionSummary>;

/** With what the agent says about it: for whoever is to answer. */
export const Interaction = lazySchema(() =>
  summary().extend({
    sessionName: SessionName,
    title: boundedText(AGENT_SENTENCE_BYTES_MAX),
    /** The command, the change, the question. */
    detail: boundedText(AGENT_TEXT_BYTES_MAX),
    /** Empty: a question that takes any text. */
    options: z.array(InteractionOption).max(AGENT_LIST_MAX),
  }),
);
export type Interaction = z.infer<typeof Interaction>;

export const InteractionReply = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('option'), optionId: boundedText(AGENT_NAME_BYTES_MAX).min(1) }),
  z.strictObject({ kind: z.literal('text'), text: boundedText(32_768).min(1) }),
  /** Once, whatever the options are called: the first that allows once. Refused for a question. */
  z.strictObject({ kind: z.literal('allow') }),
  /** Whatever the options are called; the message is for the agent. */
  z.strictObject({
    kind: z.literal('refuse'),
    message: boundedText(AGENT_SENTENCE_BYTES_MAX).nullable().default(null),
  }),
]);
export type InteractionReply = z.infer<typeof InteractionReply>;

/** How requests of a session are answered without a person. Questions are never answered by a rule. */
export const InteractionPolicy = z.strictObject({
  /** The first that names the tool decides; `*` stands for any rest of the name. */
  rules: z
    .array(
      z.strictObject({
        tool: boundedText(AGENT_NAME_BYTES_MAX).min(1),
        answer: z.enum(['allow', 'refuse', 'ask']),
      }),
    )
    .max(INTERACTION_RULES_MAX)
    .default([]),
  /** Milliseconds after which what nobody has answered is refused; null: never. */
  deadlineMs: z
    .int()
    .min(INTERACTION_DEADLINE_MS_MIN)
    .max(INTERACTION_DEADLINE_MS_MAX)
    .nullable()
    .default(null),
});
export type InteractionPolicy = z.infer<typeof InteractionPolicy>;
