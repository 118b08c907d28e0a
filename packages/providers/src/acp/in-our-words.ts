/** What agents say in ACP, in the words of our events. */
import type { InteractionOptionKind } from '@roost/protocol';
import { boundText } from '../agent-text.ts';
import type { ProviderFault } from '../blocked.ts';
import { isObject } from '../json-object.ts';
import type { RpcError } from '../json-rpc.ts';
import type * as message from './session-messages.ts';

export const OPTION_KINDS: Readonly<Record<string, InteractionOptionKind | undefined>> = {
  allow_once: 'allow-once',
  allow_always: 'allow-always',
  reject_once: 'reject-once',
  reject_always: 'reject-always',
};

/** Its own code is a number; where the data names the vendor's, that says more. */
export function faultOf({ code, message: text, data }: RpcError): ProviderFault {
  const named = isObject(data) ? [data.codexErrorInfo, data.code, data.errorKind, data.type] : [];
  const vendor = named.find((one) => typeof one === 'string');
  const detail = isObject(data) ? [data.message, data.details].find((one) => typeof one === 'string') : data;
  const told = typeof detail === 'string' && detail !== '' && detail !== text ? `${text}: ${detail}` : text;
  return {
    code: typeof vendor === 'string' ? boundText(vendor, 128) : String(code),
    message: boundText(told === '' ? `error ${code}` : told, 4_096),
  };
}

export function permissionDetail({ content, rawInput }: message.ToolCall): string {
  if (isObject(rawInput) && typeof rawInput.command === 'string') return rawInput.command;
  if (content !== null && content.length > 0) return content.join('\n');
  return rawInput === undefined ? '' : JSON.stringify(rawInput, null, 2);
}

export const outputText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? '');

export function planStatus(status: string | null): 'pending' | 'in-progress' | 'completed' {
  if (status === 'completed') return 'completed';
  return status === 'in_progress' ? 'in-progress' : 'pending';
}
