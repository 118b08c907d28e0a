/**
 * Hooks of Claude Code 2.1.197, given to it by `--settings` beside the settings of its person. An interrupt by its person is
 * reported by nothing.
 */
import { readCommonHook } from '../hook-words.ts';
import { hooksByEvent, REPORT_COMMAND, type ProviderHooks } from '../hook-report.ts';

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
      hooks: { ...hooksByEvent(PLAIN_EVENTS, command), ...hooksByEvent(TOOL_EVENTS, command, '*') },
    }),
  },
  given: { kind: 'options', arguments: ['--settings', '{file}'], saidBy: ['--settings'] },
  read: readCommonHook,
};
