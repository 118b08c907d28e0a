/**
 * Hooks of Qwen Code 0.15.10, given as the defaults of the system, which are below every setting of its person: hooks of all add up.
 * The commands that it runs for the model get the variable, too; what they report, which is not this session, is told by `QWEN_CODE`.
 */
import { readCommonHook } from '../hook-words.ts';
import { hooksByEvent, reportUnless, type ProviderHooks } from '../hook-report.ts';

/** Milliseconds after which Qwen Code ends the command. */
const TIMEOUT_MS = 5_000;

const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PermissionRequest',
  'PostToolUse',
  'PostToolUseFailure',
  'Stop',
  'StopFailure',
  'SubagentStart',
  'SubagentStop',
  'SessionEnd',
] as const;

const command = { type: 'command', command: reportUnless('QWEN_CODE'), timeout: TIMEOUT_MS };

export const QWEN_HOOKS: ProviderHooks = {
  file: {
    name: 'qwen-defaults.json',
    content: JSON.stringify({ hooks: hooksByEvent(EVENTS, command, '*') }),
  },
  given: {
    kind: 'environment',
    variable: 'QWEN_CODE_SYSTEM_DEFAULTS_PATH',
    value: '{file}',
    unless: {
      // The defaults lie beside the settings of the system.
      variables: ['QWEN_CODE_SYSTEM_SETTINGS_PATH'],
      files: [
        '/etc/qwen-code/system-defaults.json',
        '/Library/Application Support/QwenCode/system-defaults.json',
      ],
    },
  },
  read: readCommonHook,
};
