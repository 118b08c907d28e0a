/** What Codex did, as the use of a tool. */
import type * as z from 'zod';
import type { ToolResult } from '../conversation.ts';
import * as message from './app-server-messages.ts';

interface ToolItem {
  readonly tool: string;
  readonly input: unknown;
  readonly result: ToolResult;
}

/** Named as its hooks name them; null for what is no tool. */
export function toolOf(item: z.infer<typeof message.ItemNotification>['item']): ToolItem | null {
  switch (item.type) {
    case 'commandExecution':
      return mapped(message.CommandItem, item, (one) => ({
        tool: 'Bash',
        input: { command: one.command, cwd: one.cwd },
        result: {
          outcome: outcomeOf(one.status),
          output: one.aggregatedOutput ?? '',
          durationMs: one.durationMs,
        },
      }));
    case 'fileChange':
      return mapped(message.FileChangeItem, item, ({ changes, status }) => ({
        tool: 'apply_patch',
        input: { changes },
        result: { outcome: outcomeOf(status), output: '' },
      }));
    case 'mcpToolCall':
      return mapped(message.McpItem, item, (one) => ({
        tool: `mcp__${one.server}__${one.tool}`,
        input: one.arguments,
        result: {
          outcome: outcomeOf(one.status),
          output: one.error?.message ?? JSON.stringify(one.result ?? ''),
          durationMs: one.durationMs,
        },
      }));
    case 'dynamicToolCall':
      return mapped(message.DynamicToolItem, item, (one) => ({
        tool: one.tool,
        input: one.arguments,
        result: {
          outcome: outcomeOf(one.status),
          output: JSON.stringify(one.contentItems ?? ''),
          durationMs: one.durationMs,
        },
      }));
    case 'webSearch':
      return mapped(message.SearchItem, item, ({ query }) => ({
        tool: 'web_search',
        input: { query },
        result: { outcome: 'ok', output: '' },
      }));
    case 'collabAgentToolCall':
      return mapped(message.CollabItem, item, (one) => ({
        tool: one.tool,
        input: { prompt: one.prompt, agents: one.receiverThreadIds },
        result: { outcome: outcomeOf(one.status), output: '' },
      }));
    default:
      return null;
  }
}

function outcomeOf(status: string | null): ToolResult['outcome'] {
  if (status === 'failed') return 'error';
  if (status === 'declined') return 'refused';
  return status === 'interrupted' ? 'interrupted' : 'ok';
}

function mapped<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  map: (parsed: z.infer<Schema>) => ToolItem,
): ToolItem | null {
  const parsed = schema.safeParse(value);
  return parsed.success ? map(parsed.data) : null;
}
