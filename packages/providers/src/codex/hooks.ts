/**
 * Hooks of Codex 0.171.0, given as a setting of one launch. They stand in a layer of their own beside those of its person. Codex runs
 * a hook only when its exact content is trusted, and asks at its start otherwise: the launch says so of this one hook and no other.
 * `notify` is left alone, because there is only one, and it is the person's.
 */
import { createHash } from 'node:crypto';
import { readCommonHook } from '../hook-words.ts';
import { REPORT_COMMAND, type ProviderHooks } from '../hook-report.ts';

/** Seconds after which Codex ends the command; the most that it takes for `Interrupt` and `SessionEnd`. */
const TIMEOUT_S = 3;
/** By what Codex calls the events in the keys of its trust. */
const EVENTS: Readonly<Record<string, string>> = {
  SessionStart: 'session_start',
  UserPromptSubmit: 'user_prompt_submit',
  PreToolUse: 'pre_tool_use',
  PermissionRequest: 'permission_request',
  PostToolUse: 'post_tool_use',
  Stop: 'stop',
  Interrupt: 'interrupt',
  SubagentStart: 'subagent_start',
  SubagentStop: 'subagent_stop',
  SessionEnd: 'session_end',
};
/** What Codex calls the file that options of a launch stand for. */
const LAYER = '/<session-flags>/config.toml';

/** Codex runs it in the person's own shell, which need not understand POSIX; the command has no single quote in it. */
const COMMAND = `exec /bin/sh -c '${REPORT_COMMAND}'`;

export const CODEX_HOOKS: ProviderHooks = {
  file: null,
  given: { kind: 'options', arguments: ['-c', setting()], saidBy: ['-c', '--config'], saidAs: 'hooks' },
  read: readCommonHook,
};

/** TOML; a JSON string is one of its strings, too. */
function setting(): string {
  const hook = `{type="command",command=${JSON.stringify(COMMAND)},timeout=${TIMEOUT_S}}`;
  const groups = Object.keys(EVENTS).map((event) => `${event}=[{hooks=[${hook}]}]`);
  const trusted = Object.values(EVENTS).map(
    (event) => `"${LAYER}:${event}:0:0"={trusted_hash="${trustHash(event)}"}`,
  );
  return `hooks={${groups.join(',')},state={${trusted.join(',')}}}`;
}

/** As Codex computes it: of JSON with sorted keys. */
function trustHash(event: string): string {
  const hook = { async: false, command: COMMAND, timeout: TIMEOUT_S, type: 'command' };
  const identity = JSON.stringify({ event_name: event, hooks: [hook] });
  return `sha256:${createHash('sha256').update(identity).digest('hex')}`;
}
