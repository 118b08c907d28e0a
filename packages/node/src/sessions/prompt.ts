// Giving an agent a prompt. Only where a prompt is known to be taken as one; and no more is said of it than can be known: that a
// terminal has taken every byte, not that the agent has begun.
import { FailureError, type Params, type Result } from '@roost/protocol';
import { runtimeCapabilities } from '@roost/providers';
import type { Conversation } from '../conversations/conversation.ts';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import type { ProviderSource } from '../providers/providers.ts';
import type { SessionRow } from './session-table.ts';

/** @throws FailureError: prompt-unsupported. */
export function requirePrompt(
  { id: sessionId, provider, transport }: SessionRow,
  providers: Pick<ProviderSource, 'find'>,
): void {
  const capabilities = runtimeCapabilities(providers.find(provider), transport);
  if (!capabilities.includes('structured-prompt')) {
    throw new FailureError('prompt-unsupported', { sessionId, provider });
  }
}

/** @throws FailureError: prompt-unsupported, delivery-unprovable; those of input. Nothing is written then. */
export async function givePrompt(
  row: SessionRow,
  { link, providers }: { readonly link: () => KeeperLink; readonly providers: Pick<ProviderSource, 'find'> },
  { text, until }: Pick<Params<'session.prompt'>, 'text' | 'until'>,
): Promise<Result<'session.prompt'>> {
  requirePrompt(row, providers);
  if (until === 'accepted' || until === 'answered') {
    throw new FailureError('delivery-unprovable', { sessionId: row.id, until });
  }
  const { bytesWritten } = await paste(row, link(), text, true);
  return { delivery: 'written', bytesWritten };
}

/** To an agent that is spoken with. @throws FailureError: turn-in-flight, backend-busy; session-not-running when it ends before. */
export async function sayPrompt(
  conversation: Conversation,
  { text, until }: Pick<Params<'session.prompt'>, 'text' | 'until'>,
  signal: AbortSignal,
): Promise<Result<'session.prompt'>> {
  const job = await conversation.prompt(text, until === 'queued');
  await job.reach(until, signal);
  return {
    delivery: job.state,
    bytesWritten: job.state === 'queued' ? 0 : Buffer.byteLength(text),
    position: job.position,
    outcome: job.outcome,
  };
}

/** Every agent takes a bracketed paste: newlines stay in the text, and no byte of it presses a key. */
export function paste(
  row: SessionRow,
  link: KeeperLink,
  text: string,
  submit: boolean,
): Promise<{ bytesWritten: number }> {
  return link.call('input', { sessionId: row.id, text, framing: 'paste', submit }, null);
}
