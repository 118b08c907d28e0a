/**
 * The lines of Claude Code's stream (2.1.197), as far as they are read. What is shown to people may be missing or strange; a line
 * is refused only for what cannot be done without.
 */
import * as z from 'zod';

const text = z.string().nullable().catch(null);
const count = z.number().nullable().catch(null);
const flag = z.boolean().nullable().catch(null);
const anyObject = z.record(z.string(), z.unknown());

/** Blocks of a message that are read; others are left out. */
const ContentBlock = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('thinking'), thinking: z.string() }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown().optional() }),
  z.object({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.unknown().optional(),
    is_error: flag,
  }),
]);
type ContentBlock = z.infer<typeof ContentBlock>;

const content = z
  .union([z.string(), z.array(z.unknown())])
  .catch([])
  .transform((value): ContentBlock[] =>
    typeof value === 'string'
      ? [{ type: 'text', text: value }]
      : value.flatMap((block) => {
          const parsed = ContentBlock.safeParse(block);
          return parsed.success ? [parsed.data] : [];
        }),
  );

const Usage = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
  })
  .nullable()
  .catch(null);

const parent = text;

export const AssistantLine = z.object({
  type: z.literal('assistant'),
  message: z.object({ model: text, content, stop_reason: text, usage: Usage }),
  parent_tool_use_id: parent,
  /** A closed word, where the message tells of a fault of the service. */
  error: text,
});

export const UserLine = z.object({
  type: z.literal('user'),
  message: z.object({ content }),
  parent_tool_use_id: parent,
  tool_use_result: z.unknown().optional(),
});

export const StreamEventLine = z.object({
  type: z.literal('stream_event'),
  event: z.object({
    type: z.string(),
    delta: z.object({ type: text, text, thinking: text }).nullable().catch(null),
    message: z.object({ model: text, usage: Usage }).nullable().catch(null),
    usage: Usage,
  }),
  parent_tool_use_id: parent,
});

export const InitLine = z.object({
  session_id: z.string(),
  model: text,
  claude_code_version: text,
  permissionMode: text,
});

export const SystemLine = z.object({
  type: z.literal('system'),
  subtype: z.string(),
  permissionMode: text,
  /** Of `api_retry`. */
  attempt: count,
  max_retries: count,
  retry_delay_ms: count,
  error_status: count,
  error: text,
  /** Of `permission_denied`. */
  tool_name: text,
  tool_use_id: text,
  decision_reason_type: text,
  decision_reason: text,
  message: text,
  /** Of tasks that run beside the conversation. */
  task_id: text,
  task_type: text,
  subagent_type: text,
  description: text,
  content: text,
  trigger: text,
});

export const RateLimitLine = z.object({
  rate_limit_info: z.object({
    status: z.string(),
    resetsAt: count,
    rateLimitType: text,
    utilization: count,
  }),
});

export const ResultLine = z.object({
  type: z.literal('result'),
  subtype: text,
  is_error: flag,
  api_error_status: count,
  result: text,
  stop_reason: text,
  terminal_reason: text,
  session_id: text,
  total_cost_usd: count,
  usage: Usage,
  modelUsage: z
    .record(z.string(), z.object({ contextWindow: count }))
    .catch({})
    .default({}),
  permission_denials: z
    .array(z.object({ tool_name: z.string(), tool_use_id: z.string() }))
    .catch([])
    .default([]),
  errors: z.array(z.string()).catch([]).default([]),
});
export type ResultLine = z.infer<typeof ResultLine>;

/** What a permission may be given for, besides this once. */
const PermissionUpdate = z.looseObject({
  type: z.string(),
  behavior: text,
  mode: text,
  rules: z
    .array(z.looseObject({ toolName: z.string(), ruleContent: text }))
    .nullable()
    .catch(null),
  directories: z.array(z.string()).nullable().catch(null),
});
export type PermissionUpdate = z.infer<typeof PermissionUpdate>;

export const ControlRequestLine = z.object({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.looseObject({ subtype: z.string() }),
});

export const CanUseTool = z.object({
  subtype: z.literal('can_use_tool'),
  tool_name: z.string(),
  display_name: text,
  title: text,
  description: text,
  decision_reason: text,
  input: anyObject,
  permission_suggestions: z.array(PermissionUpdate).catch([]).default([]),
  tool_use_id: text,
  agent_id: text,
});

export const ControlResponseLine = z.object({
  type: z.literal('control_response'),
  response: z.object({
    subtype: z.string(),
    request_id: z.string(),
    response: anyObject.nullable().catch(null),
    error: text,
    pending_permission_requests: z.array(ControlRequestLine).catch([]).default([]),
  }),
});

export const ControlCancelLine = z.object({
  type: z.literal('control_cancel_request'),
  request_id: z.string(),
});

export const InitializeResult = z.object({
  models: z
    .array(z.object({ value: z.string(), displayName: text }))
    .catch([])
    .default([]),
});

/** The input of the tool with which it asks a person. */
export const AskedQuestions = z.object({
  questions: z
    .array(
      z.object({
        question: z.string(),
        header: text,
        options: z.array(z.object({ label: z.string(), description: text })).catch([]),
      }),
    )
    .min(1),
});
