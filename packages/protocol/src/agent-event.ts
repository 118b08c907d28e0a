/**
 * What an agent does, in one vocabulary for every provider and every source: a structured stream, ACP, hooks. Text that a
 * provider gives is cut to its bound, on the border of a character, before it becomes an event; an ellipsis stands where it was cut.
 */
import * as z from 'zod';
import { boundedText } from './bounded-text.ts';
import { lazySchema } from './lazy-schema.ts';

/** Bytes (UTF-8) of a text, of a tool's input as JSON, of a tool's output in one event. */
export const AGENT_TEXT_BYTES_MAX = 64 * 1024;
/** Bytes of what a provider calls something: tools, models, modes, ids of requests and tool calls. */
export const AGENT_NAME_BYTES_MAX = 512;
/** Bytes of a sentence for people: the reason of a refusal, the message of a fault, a title. */
export const AGENT_SENTENCE_BYTES_MAX = 4_096;
/** Options of one question, entries of a plan, models, modes, commands. */
export const AGENT_LIST_MAX = 64;

const name = boundedText(AGENT_NAME_BYTES_MAX).min(1);
const sentence = boundedText(AGENT_SENTENCE_BYTES_MAX);
const text = boundedText(AGENT_TEXT_BYTES_MAX);
/** A sub-agent's id where the event is not of the agent itself. */
const agentId = name.optional();

/** Who refused an action. Only typed facts decide it, never text. */
export const BlockAuthority = z.enum([
  /** Roost itself: a rule of the session's profile, its deadline. */
  'host-policy',
  'host-deadline',
  /** A person, through Roost. */
  'operator',
  /** A rule, classifier or sandbox of the provider; its model; a person at the provider's own prompt. */
  'provider-permission-rule',
  'provider-classifier',
  'provider-sandbox',
  'provider-refusal',
  'user-rejected',
  'provider-quota',
  'unknown',
]);
export type BlockAuthority = z.infer<typeof BlockAuthority>;

/** How an option of a permission request reads for those who answer by kind instead of by id. */
export const InteractionOptionKind = z.enum([
  'allow-once',
  'allow-always',
  'reject-once',
  'reject-always',
  'other',
]);
export type InteractionOptionKind = z.infer<typeof InteractionOptionKind>;

export const InteractionOption = z.object({ optionId: name, label: sentence, kind: InteractionOptionKind });
export type InteractionOption = z.infer<typeof InteractionOption>;

export const InteractionKind = z.enum(['approval', 'question']);
export type InteractionKind = z.infer<typeof InteractionKind>;

/** limit: the model reached a bound of its own, such as its longest answer. */
export const TurnOutcome = z.enum(['completed', 'interrupted', 'failed', 'refused', 'limit']);
export type TurnOutcome = z.infer<typeof TurnOutcome>;

export const TokenUsage = z.object({
  /** What the counts are about: one call of a model, the turn, everything since the conversation began. */
  scope: z.enum(['call', 'turn', 'thread']),
  /** Without what came from a cache. */
  inputTokens: z.int().nonnegative().nullable(),
  cacheReadTokens: z.int().nonnegative().nullable(),
  cacheWriteTokens: z.int().nonnegative().nullable(),
  outputTokens: z.int().nonnegative().nullable(),
  reasoningTokens: z.int().nonnegative().nullable(),
  /** Size of the model's window, and how much of it is used. */
  contextWindow: z.int().positive().nullable(),
  contextUsed: z.int().nonnegative().nullable(),
  costUsd: z.number().nonnegative().nullable(),
});
export type TokenUsage = z.infer<typeof TokenUsage>;

export const AgentEvent = lazySchema(() =>
  z.discriminatedUnion('kind', [
    /** The agent runs. Some tell the same at the start of each turn: then only what is new is an event. */
    z.object({
      kind: z.literal('session-started'),
      providerSessionId: name.nullable(),
      model: name.nullable(),
      version: name.nullable(),
    }),
    z.object({ kind: z.literal('identity'), providerSessionId: name }),
    /** `prompt`: what was asked, where the source tells it. */
    z.object({ kind: z.literal('turn-started'), prompt: text.nullable() }),
    /** `delta`: a piece that continues the one before; otherwise a whole message, which replaces its pieces. */
    z.object({ kind: z.literal('message'), text, delta: z.boolean(), agentId }),
    z.object({ kind: z.literal('thinking'), text, delta: z.boolean(), agentId }),
    /** `input`: JSON as text. */
    z.object({
      kind: z.literal('tool-started'),
      toolId: name,
      tool: name,
      title: sentence.nullable(),
      input: text,
      agentId,
    }),
    z.object({
      kind: z.literal('tool-finished'),
      toolId: name,
      outcome: z.enum(['ok', 'error', 'refused', 'interrupted']),
      output: text,
      durationMs: z.int().nonnegative().nullable(),
      agentId,
    }),
    z.object({
      kind: z.literal('plan'),
      entries: z
        .array(z.object({ text: sentence, status: z.enum(['pending', 'in-progress', 'completed']) }))
        .max(AGENT_LIST_MAX),
    }),
    /** The agent waits for an answer. `requestId` is the provider's own, and never leaves the node. */
    z.object({
      kind: z.literal('interaction-requested'),
      requestId: name,
      interaction: InteractionKind,
      tool: name.nullable(),
      toolId: name.nullable(),
      title: sentence,
      /** What it is about: the command, the change, the question. */
      detail: text,
      /** Empty: a question that takes any text. */
      options: z.array(InteractionOption).max(AGENT_LIST_MAX),
      agentId,
    }),
    /** Answered, withdrawn, or settled at the agent's own screen. */
    z.object({
      kind: z.literal('interaction-settled'),
      requestId: name,
      outcome: z.enum(['approved', 'refused', 'answered', 'withdrawn']),
    }),
    /** A policy refused an action; an ordinary fault is none. */
    z.object({
      kind: z.literal('blocked'),
      authority: BlockAuthority,
      toolId: name.nullable(),
      tool: name,
      reason: sentence,
      /** The provider's word for the reason. */
      reasonKind: name.nullable(),
      help: sentence.nullable(),
    }),
    /** A limit of the account: `isFinal` when the turn ends by it, otherwise the provider tries again. */
    z.object({
      kind: z.literal('quota'),
      message: sentence,
      code: name.nullable(),
      resetsAt: z.iso.datetime().nullable(),
      isFinal: z.boolean(),
    }),
    z.object({ kind: z.literal('usage'), usage: TokenUsage }),
    z.object({
      kind: z.literal('turn-finished'),
      outcome: TurnOutcome,
      /** The provider's word for how it ended. */
      stopReason: name.nullable(),
      /** Why it failed. */
      fault: sentence.nullable(),
    }),
    /** Something to be told that changes no state: a retry, a warning. */
    z.object({ kind: z.literal('notice'), level: z.enum(['info', 'warning', 'error']), text: sentence }),
    z.object({ kind: z.literal('subagent-started'), agentId: name, title: sentence.nullable() }),
    z.object({ kind: z.literal('subagent-finished'), agentId: name }),
    /** What can be chosen in this session: permission modes, models, options of its own. */
    z.object({
      kind: z.literal('choices'),
      choice: name,
      current: name.nullable(),
      available: z.array(z.object({ id: name, label: sentence })).max(AGENT_LIST_MAX),
    }),
    z.object({
      kind: z.literal('session-ended'),
      fault: sentence.nullable(),
    }),
  ]),
);
export type AgentEvent = z.infer<typeof AgentEvent>;
