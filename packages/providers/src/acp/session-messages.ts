/**
 * What is read of the Agent Client Protocol, version 1. Agents are of many ages: what is shown to people may be missing, and kinds
 * that are not known are passed over.
 */
import * as z from 'zod';

const text = z.string().nullable().catch(null);
const count = z.number().nullable().catch(null);
const anyObject = z.record(z.string(), z.unknown());
const meta = anyObject.nullable().catch(null);

export const InitializeResult = z.object({
  protocolVersion: z.number(),
  agentInfo: z.object({ name: text, version: text }).nullable().catch(null),
  agentCapabilities: z
    .object({
      loadSession: z.boolean().catch(false),
      sessionCapabilities: z.object({ resume: z.unknown().optional() }).nullable().catch(null),
    })
    .nullable()
    .catch(null),
  authMethods: z.array(z.object({ id: z.string(), name: text })).catch([]),
});

const Modes = z
  .object({
    currentModeId: text,
    availableModes: z.array(z.object({ id: z.string(), name: text })).catch([]),
  })
  .nullable()
  .catch(null);

/** Of agents from before models became an option. */
const Models = z
  .object({
    currentModelId: text,
    availableModels: z.array(z.object({ modelId: z.string(), name: text })).catch([]),
  })
  .nullable()
  .catch(null);

const SelectOption = z.object({ value: z.string(), name: text });
export const ConfigOptions = z
  .array(
    z
      .object({
        id: z.string(),
        name: text,
        type: z.string(),
        currentValue: z.unknown().optional(),
        options: z
          .array(
            z.union([
              SelectOption,
              z.object({ options: z.array(SelectOption) }).transform((group) => group.options),
            ]),
          )
          .catch([])
          .transform((options) => options.flat()),
      })
      .nullable()
      .catch(null),
  )
  .catch([])
  .transform((options) => options.filter((option) => option !== null));
export type ConfigOptions = z.infer<typeof ConfigOptions>;

/** The answer to `session/new`, `session/load` and `session/resume`; only the first names the session. */
export const SessionResult = z.object({
  sessionId: text,
  modes: Modes,
  models: Models,
  configOptions: ConfigOptions,
});

const Usage = z
  .object({
    inputTokens: count,
    outputTokens: count,
    thoughtTokens: count,
    cachedReadTokens: count,
    cachedWriteTokens: count,
  })
  .nullable()
  .catch(null);

export const PromptResult = z.object({ stopReason: text, usage: Usage, _meta: meta });

export const SetConfigResult = z.object({ configOptions: ConfigOptions });

export const UpdateParams = z.object({
  sessionId: z.string(),
  update: z.looseObject({ sessionUpdate: z.string() }),
});

const ContentBlock = z.looseObject({ type: z.string(), text });

export const Chunk = z.object({
  content: z.union([ContentBlock, z.string().transform((one) => ({ type: 'text', text: one }))]),
});

const ToolContent = z
  .array(z.unknown())
  .nullable()
  .catch(null)
  .transform((list) => list?.map(contentText).filter((one) => one !== '') ?? null);

const toolFields = {
  title: text,
  kind: text,
  status: text,
  content: ToolContent,
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
  _meta: meta,
};
export const ToolCall = z.object({ toolCallId: z.string(), ...toolFields });
export type ToolCall = z.infer<typeof ToolCall>;

export const Plan = z.object({
  entries: z.array(z.object({ content: z.string(), status: text })),
});

export const CurrentMode = z.object({ currentModeId: z.string() });
export const ConfigUpdate = z.object({ configOptions: ConfigOptions });
export const UsageUpdate = z.object({
  used: count,
  size: count,
  cost: z.object({ amount: count, currency: text }).nullable().catch(null),
});
export const Commands = z.object({
  availableCommands: z.array(z.object({ name: z.string(), description: text })),
});

export const PermissionParams = z.object({
  sessionId: z.string(),
  toolCall: ToolCall,
  options: z.array(z.object({ optionId: z.string(), name: text, kind: text })),
});

const Block = z.object({
  type: z.string(),
  content: z.object({ type: text, text }).nullable().catch(null),
  path: text,
  newText: text,
  terminalId: text,
});

/** What a part of a tool's output says to a reader. */
function contentText(value: unknown): string {
  const parsed = Block.safeParse(value);
  if (!parsed.success) return typeof value === 'string' ? value : '';
  const { type, content, path, newText } = parsed.data;
  if (type === 'content') return content?.text ?? (content === null ? '' : `[${content.type ?? 'content'}]`);
  if (type === 'diff') return `${path ?? ''}\n${newText ?? ''}`;
  return '';
}
