/** How a turn of Codex ended, and whom its fault shows to have refused. */
import { boundText } from '../agent-text.ts';
import { blockedEvent, blockedTurn, isQuota, loginRequired, type ProviderFault } from '../blocked.ts';
import type { Conversation } from '../conversation.ts';
import { isObject } from '../json-object.ts';
import type { RpcError } from '../json-rpc.ts';
import type { TurnError } from './app-server-messages.ts';
import type { AskedOfPerson } from './approvals.ts';

const LIMIT_CODES: readonly string[] = ['contextWindowExceeded', 'sessionBudgetExceeded'];
const REFUSAL_CODES: readonly string[] = ['cyberPolicy', 'bioPolicy', 'misalignmentPolicyViolation'];
const DENIAL_CODES: Readonly<
  Record<string, 'provider-classifier' | 'provider-permission-rule' | 'provider-sandbox'>
> = {
  tooManyDenials: 'provider-classifier',
  inferenceHookDenied: 'provider-permission-rule',
  sandboxError: 'provider-sandbox',
};

export function tellTurnEnd(
  talk: Conversation<AskedOfPerson>,
  {
    status,
    fault,
    resetsAt,
  }: {
    readonly status: string | null;
    readonly fault: ProviderFault | null;
    readonly resetsAt: string | null;
  },
): void {
  const stopReason = fault?.code ?? status;
  const ending = { stopReason, fault: fault?.message ?? null };
  if (status === 'completed') talk.endTurn('completed', { stopReason: status });
  else if (status === 'interrupted' && fault === null) talk.endTurn('interrupted', { stopReason });
  else if (fault === null) talk.endTurn('failed', { stopReason, fault: 'the turn failed' });
  else if (isQuota(fault)) {
    talk.quota(fault, true, resetsAt);
    talk.endTurn('limit', ending);
  } else if (fault.code !== null && LIMIT_CODES.includes(fault.code)) talk.endTurn('limit', ending);
  else if (fault.code !== null && REFUSAL_CODES.includes(fault.code)) {
    talk.blocked(blockedTurn(fault.code, fault.message));
    talk.endTurn('refused', ending);
  } else {
    if (fault.code === 'unauthorized') talk.blocked(loginRequired(fault.message, null));
    const authority = fault.code === null ? undefined : DENIAL_CODES[fault.code];
    if (authority !== undefined) {
      const { code: reasonKind, message: reason } = fault;
      talk.blocked(blockedEvent({ authority, tool: 'Session', reason, reasonKind }));
    }
    talk.endTurn(status === 'interrupted' ? 'interrupted' : 'failed', ending);
  }
}

/** Its code is a word, or an object whose only key is the word; what the service answered says more than "connection failed". */
export function faultOf({
  message: text,
  codexErrorInfo: info,
  additionalDetails,
}: TurnError): ProviderFault {
  const told = text === '' ? (additionalDetails ?? '') : text;
  const [word, detail] = isObject(info) ? (Object.entries(info)[0] ?? []) : [info];
  const status = isObject(detail) ? detail.httpStatusCode : null;
  const code = status === 401 ? 'unauthorized' : status === 429 ? 'rateLimitExceeded' : word;
  return {
    code: typeof code === 'string' ? boundText(code, 128) : null,
    message: boundText(told === '' ? 'the turn failed' : told, 4_096),
  };
}

/** A request of ours that failed, told as the turn's own error. */
export function turnErrorOf({ message, data }: RpcError): TurnError {
  return {
    message,
    codexErrorInfo: isObject(data) ? data.codexErrorInfo : undefined,
    additionalDetails: null,
  };
}
