/** How a turn of Claude Code ended, by its `result` line. */
import { blockedTurn, isQuota, loginRequired } from '../blocked.ts';
import type { Conversation } from '../conversation.ts';
import type { ResultLine } from './stream-lines.ts';

interface KnownBefore {
  readonly wasInterrupted: boolean;
  /** Its word for the fault of the service that a message of this turn told. */
  readonly serviceFault: string | null;
  readonly resetsAt: string | null;
}

/** `subtype` is `success` for turns that failed: `is_error` tells. */
export function tellTurnEnd(
  talk: Pick<Conversation<never>, 'blocked' | 'quota' | 'endTurn'>,
  line: ResultLine,
  { wasInterrupted, serviceFault, resetsAt }: KnownBefore,
): void {
  const said = faultOf(line);
  const stopReason = line.stop_reason ?? line.terminal_reason ?? line.subtype ?? null;
  const fault = { code: serviceFault ?? codeOfStatus(line.api_error_status), message: said ?? '' };
  if (wasInterrupted || line.terminal_reason?.startsWith('aborted') === true) {
    talk.endTurn('interrupted', { stopReason: line.terminal_reason ?? stopReason });
  } else if (line.stop_reason === 'refusal') {
    talk.blocked(blockedTurn('refusal', said));
    talk.endTurn('refused', { stopReason });
  } else if (line.subtype === 'error_max_turns' || line.subtype === 'error_max_budget_usd') {
    talk.endTurn('limit', { stopReason: line.subtype, fault: said });
  } else if (line.is_error !== true) {
    talk.endTurn(line.stop_reason === 'max_tokens' ? 'limit' : 'completed', { stopReason });
  } else if (line.api_error_status === 429 || isQuota(fault)) {
    talk.quota(fault, true, resetsAt);
    talk.endTurn('limit', { stopReason: fault.code, fault: said });
  } else {
    if (isLoginFault(serviceFault, line.api_error_status)) {
      talk.blocked(loginRequired(fault.message, null));
    }
    talk.endTurn('failed', {
      stopReason: fault.code ?? line.subtype ?? null,
      fault: said ?? 'the agent reported an error',
    });
  }
}

export const faultOf = ({ errors, result }: ResultLine): string | null =>
  [...errors, result ?? ''].find((one) => one !== '') ?? null;

export const codeOfStatus = (status: number | null | undefined): string | null =>
  status === null ? null : `http-${status}`;

const isLoginFault = (word: string | null, status: number | null | undefined): boolean =>
  word === 'authentication_failed' || word === 'oauth_org_not_allowed' || (word === null && status === 401);
