/**
 * Events of hooks in the words that Claude Code coined and others took over: Codex 0.171.0 and Qwen Code 0.15.10. What a CLI
 * lacks of them simply never comes. A permission request names no tool call.
 */
import type { AgentEvent } from '@roost/protocol';
import { eventJson, eventName, eventSentence, eventText } from './agent-text.ts';
import { isObject, type JsonObject } from './json-object.ts';

/** Tools by which an agent asks its person something. */
const QUESTION_TOOLS: readonly string[] = ['AskUserQuestion', 'ask_user_question'];

export function readCommonHook(report: unknown): readonly AgentEvent[] {
  if (!isObject(report)) return [];
  const event = textOf(report, 'hook_event_name');
  const agentId = eventName(textOf(report, 'agent_id'));
  switch (event) {
    case 'SessionStart':
      return agentId === null ? sessionStarted(report) : [];
    case 'UserPromptSubmit':
      return [{ kind: 'turn-started', prompt: eventText(textOf(report, 'prompt') ?? '') }];
    case 'PreToolUse':
    case 'PostToolUse':
    case 'PostToolUseFailure':
    case 'PermissionRequest':
      return toolEvents(event, report, agentId);
    case 'Stop':
      return agentId === null ? [turnOver(report.is_interrupt === true ? 'interrupted' : 'completed')] : [];
    case 'Interrupt':
      return agentId === null ? [turnOver('interrupted')] : [];
    case 'StopFailure':
      return turnFailed(report);
    case 'SubagentStart':
      return agentId === null
        ? []
        : [
            {
              kind: 'subagent-started',
              agentId,
              title: eventSentence(textOf(report, 'agent_type') ?? '') || null,
            },
          ];
    case 'SubagentStop':
      return agentId === null ? [] : [{ kind: 'subagent-finished', agentId }];
    case 'SessionEnd':
      return [{ kind: 'session-ended', fault: null }];
    default:
      return [];
  }
}

export function textOf(report: JsonObject, key: string): string | null {
  const value = report[key];
  return typeof value === 'string' ? value : null;
}

/** The program runs, and which of its sessions it is. */
function sessionStarted(report: JsonObject): readonly AgentEvent[] {
  const providerSessionId = eventName(textOf(report, 'session_id'));
  const started: AgentEvent = {
    kind: 'session-started',
    providerSessionId,
    model: eventName(textOf(report, 'model')),
    version: null,
  };
  return providerSessionId === null ? [started] : [started, { kind: 'identity', providerSessionId }];
}

export function turnOver(outcome: 'completed' | 'interrupted'): AgentEvent {
  return { kind: 'turn-finished', outcome, stopReason: null, fault: null };
}

/** What a person must know at a glance: the tool, and the command or the file that it is about. */
export function toolTitle(tool: string, input: unknown): string {
  if (!isObject(input)) return tool;
  const subject = [input.command, input.file_path, input.url, input.pattern].find(
    (value) => typeof value === 'string',
  );
  return subject === undefined ? tool : `${tool}: ${subject}`;
}

function toolEvents(
  event: 'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure' | 'PermissionRequest',
  report: JsonObject,
  agentId: string | null,
): readonly AgentEvent[] {
  const of = agentId === null ? {} : { agentId };
  const tool = eventName(textOf(report, 'tool_name')) ?? 'Tool';
  const toolId = eventName(textOf(report, 'tool_use_id'));
  switch (event) {
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
          outcome: event === 'PostToolUse' ? 'ok' : 'error',
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
          interaction: QUESTION_TOOLS.includes(tool) ? 'question' : 'approval',
          tool,
          toolId,
          title: eventSentence(toolTitle(tool, report.tool_input)),
          detail: eventJson(report.tool_input),
          options: [],
          ...of,
        },
      ];
  }
}

function turnFailed(report: JsonObject): readonly AgentEvent[] {
  const code = textOf(report, 'error');
  const fault = eventSentence(textOf(report, 'last_assistant_message') ?? code ?? 'the turn failed');
  const finished: AgentEvent = {
    kind: 'turn-finished',
    outcome: 'failed',
    stopReason: eventName(code),
    fault,
  };
  if (code !== 'rate_limit') return [finished];
  return [finished, { kind: 'quota', message: fault, code, resetsAt: null, isFinal: true }];
}

function durationOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
