/**
 * Hooks of Claude Code 2.1.197, given to it by `--settings` beside the settings of its person. A permission request names no tool call;
 * an interrupt by its person is reported by nothing.
 */
import type { AgentEvent } from '@roost/protocol';
import { eventJson, eventName, eventSentence, eventText } from '../agent-text.ts';
import { REPORT_COMMAND, type ProviderHooks } from '../hook-report.ts';
import { isObject } from '../json-object.ts';

/** Seconds after which Claude Code ends the command. */
const TIMEOUT_S = 5;

const PLAIN_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'Notification',
  'Stop',
  'StopFailure',
  'SubagentStart',
  'SubagentStop',
  'SessionEnd',
] as const;
const TOOL_EVENTS = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PermissionRequest'] as const;

const command = { type: 'command', command: REPORT_COMMAND, timeout: TIMEOUT_S };

export const CLAUDE_HOOKS: ProviderHooks = {
  file: {
    name: 'claude-settings.json',
    content: JSON.stringify({
      hooks: Object.fromEntries<unknown>([
        ...PLAIN_EVENTS.map((name): [string, unknown] => [name, [{ hooks: [command] }]]),
        ...TOOL_EVENTS.map((name): [string, unknown] => [name, [{ matcher: '*', hooks: [command] }]]),
      ]),
    }),
  },
  arguments: ['--settings', '{file}'],
  read: readClaudeHook,
};

function readClaudeHook(report: unknown): readonly AgentEvent[] {
  if (!isObject(report)) return [];
  const text = (key: string): string | null => {
    const value = report[key];
    return typeof value === 'string' ? value : null;
  };
  const agentId = eventName(text('agent_id'));
  const of = agentId === null ? {} : { agentId };
  const tool = eventName(text('tool_name')) ?? 'Tool';
  const toolId = eventName(text('tool_use_id'));
  switch (text('hook_event_name')) {
    case 'SessionStart': {
      const providerSessionId = eventName(text('session_id'));
      const started: AgentEvent = {
        kind: 'session-started',
        providerSessionId,
        model: eventName(text('model')),
        version: null,
      };
      return providerSessionId === null ? [started] : [started, { kind: 'identity', providerSessionId }];
    }
    case 'UserPromptSubmit':
      return [{ kind: 'turn-started', prompt: eventText(text('prompt') ?? '') }];
    case 'PreToolUse':
      if (toolId === null) return [];
      return [
        { kind: 'tool-started', toolId, tool, title: null, input: eventJson(report.tool_input), ...of },
      ];
    case 'PostToolUse':
    case 'PostToolUseFailure':
      if (toolId === null) return [];
      return [
        {
          kind: 'tool-finished',
          toolId,
          outcome: text('hook_event_name') === 'PostToolUse' ? 'ok' : 'error',
          output: eventJson(report.tool_response ?? report.error),
          durationMs: durationOf(report.duration_ms),
          ...of,
        },
      ];
    case 'PermissionRequest':
      return [
        {
          kind: 'interaction-requested',
          // It has no id of its own: there is one at a time, and what follows settles it.
          requestId: toolId ?? tool,
          interaction: tool === 'AskUserQuestion' ? 'question' : 'approval',
          tool,
          toolId,
          title: eventSentence(titleOf(tool, report.tool_input)),
          detail: eventJson(report.tool_input),
          options: [],
          ...of,
        },
      ];
    case 'Stop':
      if (agentId !== null) return [];
      return [
        {
          kind: 'turn-finished',
          outcome: report.is_interrupt === true ? 'interrupted' : 'completed',
          stopReason: null,
          fault: null,
        },
      ];
    case 'StopFailure': {
      const fault = eventSentence(text('last_assistant_message') ?? text('error') ?? 'the turn failed');
      const finished: AgentEvent = {
        kind: 'turn-finished',
        outcome: 'failed',
        stopReason: eventName(text('error')),
        fault,
      };
      if (text('error') !== 'rate_limit') return [finished];
      return [finished, { kind: 'quota', message: fault, code: 'rate_limit', resetsAt: null, isFinal: true }];
    }
    case 'SubagentStart':
      return agentId === null
        ? []
        : [{ kind: 'subagent-started', agentId, title: eventSentence(text('agent_type') ?? '') || null }];
    case 'SubagentStop':
      return agentId === null ? [] : [{ kind: 'subagent-finished', agentId }];
    case 'SessionEnd':
      return [{ kind: 'session-ended', fault: null }];
    default:
      return [];
  }
}

/** What a person must know at a glance: the tool, and the command or the file that it is about. */
function titleOf(tool: string, input: unknown): string {
  if (!isObject(input)) return tool;
  const subject = [input.command, input.file_path, input.url, input.pattern].find(
    (value) => typeof value === 'string',
  );
  return subject === undefined ? tool : `${tool}: ${subject}`;
}

function durationOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
