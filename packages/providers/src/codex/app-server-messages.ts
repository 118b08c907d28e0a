/** What is read of the messages of `codex app-server` (0.171.0; `codex app-server generate-ts` prints all of them). */
import * as z from 'zod';

const text = z.string().nullable().catch(null);
const count = z.number().nullable().catch(null);
const texts = z.array(z.string()).catch([]);
const anyObject = z.record(z.string(), z.unknown());

export const InitializeResult = z.object({ userAgent: text });

export const ThreadResult = z.object({ thread: z.object({ id: z.string() }), model: text });

const TurnError = z.object({
  message: z.string().catch(''),
  codexErrorInfo: z.unknown().optional(),
  additionalDetails: text,
});
export type TurnError = z.infer<typeof TurnError>;

const Turn = z.object({
  id: z.string(),
  status: text,
  error: TurnError.nullable().catch(null),
});

export const TurnResult = z.object({ turn: Turn });

/** Every notification of a thread has these; sub-agents are threads of their own. */
const ofThread = { threadId: z.string(), turnId: text };

export const TurnNotification = z.object({ threadId: z.string(), turn: Turn });

export const DeltaNotification = z.object({ ...ofThread, delta: z.string() });

export const ErrorNotification = z.object({
  ...ofThread,
  error: TurnError,
  willRetry: z.boolean().catch(false),
});

export const PlanNotification = z.object({
  ...ofThread,
  plan: z.array(z.object({ step: z.string(), status: text })),
});

const Tokens = z.object({
  totalTokens: count,
  inputTokens: count,
  cachedInputTokens: count,
  cacheWriteInputTokens: count,
  outputTokens: count,
  reasoningOutputTokens: count,
});

export const UsageNotification = z.object({
  ...ofThread,
  tokenUsage: z.object({ total: Tokens, last: Tokens, modelContextWindow: count }),
});

const Window = z.object({ usedPercent: count, resetsAt: count }).nullable().catch(null);
export const RateLimitsNotification = z.object({
  rateLimits: z.object({ primary: Window, secondary: Window }),
});

export const WarningNotification = z.object({ message: text, summary: text, details: text });

export const ModelReroutedNotification = z.object({
  ...ofThread,
  fromModel: z.string(),
  toModel: z.string(),
});

export const ReviewNotification = z.object({
  ...ofThread,
  targetItemId: text,
  review: z.object({ status: z.string(), rationale: text }),
  action: z.object({ type: z.string() }),
});

export const ResolvedNotification = z.object({ requestId: z.union([z.string(), z.number()]) });

export const ItemNotification = z.object({
  ...ofThread,
  item: z.looseObject({ type: z.string(), id: z.string() }),
});

export const MessageItem = z.object({ text: z.string() });
export const ReasoningItem = z.object({ summary: texts, content: texts });
export const CommandItem = z.object({
  command: z.string(),
  cwd: text,
  status: text,
  aggregatedOutput: text,
  exitCode: count,
  durationMs: count,
});
export const FileChangeItem = z.object({
  changes: z.array(z.object({ path: z.string(), kind: z.unknown().optional(), diff: text })).catch([]),
  status: text,
});
export const McpItem = z.object({
  server: z.string(),
  tool: z.string(),
  status: text,
  arguments: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: text }).nullable().catch(null),
  durationMs: count,
});
export const DynamicToolItem = z.object({
  tool: z.string(),
  status: text,
  arguments: z.unknown().optional(),
  contentItems: z.unknown().optional(),
  durationMs: count,
});
export const SearchItem = z.object({ query: text });
export const CollabItem = z.object({
  tool: z.string(),
  status: text,
  receiverThreadIds: texts,
  prompt: text,
});
export const SubagentItem = z.object({ kind: text, agentThreadId: z.string(), agentPath: text });

// Requests of the agent.

const ofItem = { ...ofThread, itemId: z.string() };

export const CommandApproval = z.object({
  ...ofItem,
  reason: text,
  command: text,
  cwd: text,
  proposedExecpolicyAmendment: z.array(z.string()).nullable().catch(null),
  proposedNetworkPolicyAmendments: z
    .array(z.looseObject({ host: text, action: text }))
    .nullable()
    .catch(null),
});

export const FileChangeApproval = z.object({ ...ofItem, reason: text, grantRoot: text });

export const PermissionsApproval = z.object({ ...ofItem, reason: text, permissions: anyObject });

export const AskedQuestions = z.object({
  ...ofItem,
  questions: z
    .array(
      z.object({
        id: z.string(),
        question: z.string(),
        isOther: z.boolean().catch(false),
        options: z
          .array(z.object({ label: z.string(), description: text }))
          .nullable()
          .catch(null),
      }),
    )
    .min(1),
});
export type AskedQuestions = z.infer<typeof AskedQuestions>;

export const Elicitation = z.object({
  ...ofThread,
  serverName: z.string(),
  message: z.string(),
  requestedSchema: z
    .object({ required: texts, properties: anyObject.catch({}) })
    .nullable()
    .catch(null),
  url: text,
});

export const ModelListResult = z.object({
  data: z.array(z.object({ model: z.string(), displayName: text })).catch([]),
});
