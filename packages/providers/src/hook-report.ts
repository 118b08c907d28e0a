/**
 * Reports of an agent's hooks. A hook is a command that the agent runs with a JSON object on standard input; ours leaves that object as
 * a file in the session's own directory, where the node finds it, at once or when it runs again. So a hook takes as long as a shell
 * takes to start, never waits for anybody, and tells nothing outside of Roost.
 */
import type { AgentEvent } from '@roost/protocol';
import type { Saying } from './command-line.ts';

/** Name of the directory below the session's own one that takes the reports; nothing is reported where it is missing. */
export const REPORTS_DIRECTORY = 'reports';
/** End of the name of a whole report. */
export const REPORT_SUFFIX = '.json';
/** Bytes of a report; a larger one is left out. */
export const REPORT_BYTES_MAX = 1024 * 1024;

/**
 * POSIX shell; ROOST_HOME and ROOST_SESSION_ID are in every session's environment. Standard input is read to its end in any case: the
 * agent must not see a broken pipe.
 */
function reportCommand(condition: string): string {
  return `d="$ROOST_HOME/sessions/$ROOST_SESSION_ID/${REPORTS_DIRECTORY}"; f="$d/$$"
if ${condition}[ -n "$ROOST_SESSION_ID" ] && [ -d "$d" ]; then
  (umask 077; cat >"$f.part") && mv "$f.part" "$f${REPORT_SUFFIX}"
else
  cat >/dev/null
fi 2>/dev/null
exit 0`;
}

export const REPORT_COMMAND = reportCommand('');

/** For hooks that the agent's own children inherit: `variable` is set for those, and they are not this session. */
export const reportUnless = (variable: string): string => reportCommand(`[ -z "$${variable}" ] && `);

/** The same hook for each event, in the form that most CLIs took over from Claude Code. `matcher`: of the tools' names. */
export function hooksByEvent(
  events: readonly string[],
  hook: Readonly<Record<string, unknown>>,
  matcher?: string,
): Record<string, readonly [Readonly<Record<string, unknown>>]> {
  const group = { ...(matcher === undefined ? {} : { matcher }), hooks: [hook] };
  return Object.fromEntries(events.map((event) => [event, [group]]));
}

/** How an agent is made to report, without a change to the settings of its person. */
export interface ProviderHooks {
  /** Kept in the node's own directory, the same for every session; null: the options say it all. */
  readonly file: { readonly name: string; readonly content: string } | null;
  readonly given: HooksByOptions | HooksByEnvironment;
  /** What one report says. Never throws; of what it does not know, it says nothing. */
  readonly read: (report: unknown) => readonly AgentEvent[];
}

/** Options of the launch, `{file}` for the file. A caller who says the same himself has his way. */
interface HooksByOptions extends Saying {
  readonly kind: 'options';
  readonly arguments: readonly string[];
}

/** A variable of the session that names more settings, below those of its person. */
interface HooksByEnvironment {
  readonly kind: 'environment';
  readonly variable: string;
  /** `{file}` for the file, `{url}` for its URL. */
  readonly value: string;
  /** Nothing is given when it is set already, or one of these is, or one of these files is there: that is what it would displace. */
  readonly unless: { readonly variables: readonly string[]; readonly files: readonly string[] };
}
