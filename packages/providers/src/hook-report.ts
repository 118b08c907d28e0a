/**
 * Reports of an agent's hooks. A hook is a command that the agent runs with a JSON object on standard input; ours leaves that object as
 * a file in the session's own directory, where the node finds it, at once or when it runs again. So a hook takes as long as a shell
 * takes to start, never waits for anybody, and tells nothing outside of Roost.
 */
import type { AgentEvent } from '@roost/protocol';

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
export const REPORT_COMMAND = `d="$ROOST_HOME/sessions/$ROOST_SESSION_ID/${REPORTS_DIRECTORY}"; f="$d/$$"
if [ -n "$ROOST_SESSION_ID" ] && [ -d "$d" ]; then
  (umask 077; cat >"$f.part") && mv "$f.part" "$f${REPORT_SUFFIX}"
else
  cat >/dev/null
fi 2>/dev/null
exit 0`;

/** How an agent is made to report, without a change to the settings of its person. */
export interface ProviderHooks {
  /** Kept in the node's own directory, the same for every session. */
  readonly file: { readonly name: string; readonly content: string };
  /** Options that name the file, `{file}`; left out when the caller gives the first of them. */
  readonly arguments: readonly string[];
  /** What one report says. Never throws; of what it does not know, it says nothing. */
  readonly read: (report: unknown) => readonly AgentEvent[];
}
