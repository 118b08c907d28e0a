/**
 * Who refused an action, and what a limit of the account says. An authority comes from typed fields alone: a tool that fails, or
 * an agent that says that it was blocked, is no block. Text fills the reason and the help, nothing else.
 */
import type { AgentEvent, BlockAuthority } from '@roost/protocol';
import { eventName, eventSentence } from './agent-text.ts';
import { resetTimeOf } from './reset-time.ts';

export type BlockedEvent = Extract<AgentEvent, { kind: 'blocked' }>;
export type QuotaEvent = Extract<AgentEvent, { kind: 'quota' }>;

/** What a block is about that is of no tool. */
const SESSION = 'Session';

/** The provider wants a person to sign in; `help` names the ways that it offers. */
export const LOGIN_REQUIRED = 'login-required';

/** Said when whoever refused gave no reason. */
const BLOCK_REASONS: Readonly<Record<BlockAuthority, string>> = {
  'host-policy': 'denied by host policy',
  'host-deadline': 'denied by host policy after the operator deadline expired',
  operator: 'declined by the operator',
  'provider-classifier': "denied by the provider's classifier",
  'provider-permission-rule': 'denied by a provider permission rule',
  'provider-sandbox': "denied by the provider's sandbox",
  'provider-refusal': 'refused by the provider',
  'user-rejected': 'rejected by the user',
  'provider-quota': "the provider's quota or rate limit was exhausted",
  unknown: 'blocked; no reason was reported',
};

export interface Refusal {
  readonly authority: BlockAuthority;
  readonly tool: string | null;
  readonly toolId?: string | null;
  readonly reason?: string | null | undefined;
  readonly reasonKind?: string | null | undefined;
  readonly help?: string | null;
}

export function blockedEvent(refusal: Refusal): BlockedEvent {
  const reason = eventSentence(refusal.reason ?? '');
  return {
    kind: 'blocked',
    authority: refusal.authority,
    toolId: eventName(refusal.toolId),
    tool: eventName(refusal.tool) ?? 'Tool',
    reason: reason === '' ? BLOCK_REASONS[refusal.authority] : reason,
    reasonKind: eventName(refusal.reasonKind),
    help: eventSentence(refusal.help ?? '') || null,
  };
}

/** What this host did not do for an agent: a call of the agent to the host, refused. */
export function blockedHostRequest(
  method: string,
  authority: Extract<BlockAuthority, 'host-policy' | 'host-deadline' | 'operator'>,
  reason: string | null,
): BlockedEvent {
  return blockedEvent({ authority, tool: hostToolOf(method), reason });
}

/** By what an agent could do with it: a command may write. */
function hostToolOf(method: string): string {
  if (method === 'fs/read_text_file') return 'Read';
  if (method.startsWith('fs/') || method.startsWith('terminal/')) return 'Write';
  return method;
}

const NOT_EXECUTED: Readonly<Record<string, BlockAuthority>> = {
  'user-rejected': 'user-rejected',
  'permission-rule': 'provider-permission-rule',
};

/** A tool call that was never executed, by the provider's word for why; null when that is no refusal. */
export function blockedToolCall(call: {
  readonly nonExecutionKind: string | null;
  readonly toolId: string;
  /** null: known from its help only. */
  readonly tool: string | null;
  readonly output: string;
}): BlockedEvent | null {
  const authority =
    call.nonExecutionKind !== null && Object.hasOwn(NOT_EXECUTED, call.nonExecutionKind)
      ? NOT_EXECUTED[call.nonExecutionKind]
      : undefined;
  if (authority === undefined) return null;
  const { reason, help } = splitDenial(call.output);
  return blockedEvent({
    authority,
    tool: call.tool ?? toolOfHelp(help),
    toolId: call.toolId,
    reason,
    reasonKind: call.nonExecutionKind,
    help,
  });
}

/** "Permission was denied. Reason: it is a secret. Add a Read rule to ..." is a reason and what helps. */
export function splitDenial(text: string): { reason: string; help: string | null } {
  const whole = text.trim();
  const at = whole.indexOf('Reason:');
  if (at < 0) return { reason: whole, help: null };
  const tail = whole.slice(at + 'Reason:'.length).trimStart();
  const end = tail.indexOf('. ');
  if (end < 0) return { reason: tail.replace(/\.$/, '').trim(), help: null };
  return { reason: tail.slice(0, end).trim(), help: tail.slice(end + 2).trim() || null };
}

function toolOfHelp(help: string | null): string | null {
  return help?.split('add a ')[1]?.split(' ')[0] ?? null;
}

/** The model, or what watches over it, would not go on. */
export function blockedTurn(reasonKind: string, reason?: string | null): BlockedEvent {
  return blockedEvent({ authority: 'provider-refusal', tool: SESSION, reasonKind, reason });
}

export function loginRequired(reason: string, help: string | null): BlockedEvent {
  return blockedEvent({
    authority: 'provider-refusal',
    tool: SESSION,
    reasonKind: LOGIN_REQUIRED,
    reason,
    help,
  });
}

/** An error as a provider gives it: its own code, a sentence. */
export interface ProviderFault {
  readonly code: string | null;
  readonly message: string;
}

const QUOTA_CODES =
  /\b(?:quota|rate limits?|(?:usage|spend|session|credit|budget)s? limits?|billing|credits?)\b/;
const QUOTA_WORDS =
  /\b(?:quota|too many requests|resource[ _]exhausted|(?:rate|usage|session|hourly|daily|weekly|monthly|spend(?:ing)?|credit|request)s?[ _-]?limits?|limit (?:reached|exceeded)|hit (?:your|the) limit|out of credits?)\b/i;
/** A limit of the conversation, and none of the account. */
const OF_CONTEXT = /\b(?:context|tokens?|length|prompt)\b/i;

/** Only for what is known to be a fault: whole words decide, so that "generate" and "unlimited" say nothing. */
export function isQuota({ code, message }: ProviderFault): boolean {
  if (code !== null && QUOTA_CODES.test(wordsOf(code))) return true;
  const found = QUOTA_WORDS.exec(message);
  return found !== null && !(/^limit/i.test(found[0]) && OF_CONTEXT.test(message));
}

/** `usageLimitExceeded` and `RATE_LIMIT` in words. */
function wordsOf(code: string): string {
  return code
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();
}

/** `resetsAt`: where the provider tells it in a field of its own; otherwise its sentence is read. */
export function quotaEvent(
  fault: ProviderFault,
  when: { readonly isFinal: boolean; readonly resetsAt: string | null; readonly now: number },
): QuotaEvent {
  return {
    kind: 'quota',
    message: eventSentence(fault.message) || BLOCK_REASONS['provider-quota'],
    code: eventName(fault.code),
    resetsAt: when.resetsAt ?? resetTimeOf(fault.message, when.now),
    isFinal: when.isFinal,
  };
}

/** The block that goes with a limit that ended a turn. */
export function blockedByQuota(fault: ProviderFault): BlockedEvent {
  return blockedEvent({
    authority: 'provider-quota',
    tool: SESSION,
    reason: fault.message,
    reasonKind: fault.code ?? 'provider-error',
  });
}
