/** What the node finds of the agents that it knows, looked up anew. */
import type { Result } from '@roost/protocol';
import type { CommandContext } from './command-context.ts';

/** Milliseconds: several programs may have to be asked for their versions, each for up to five seconds. */
const ASK_TIMEOUT_MS = 60_000;

export async function listProviders(context: CommandContext): Promise<Result<'provider.list'>> {
  const connection = await context.node();
  return connection.request('provider.list', {}, { timeoutMs: ASK_TIMEOUT_MS });
}

export async function checkProvider(
  context: CommandContext,
  provider: string,
): Promise<Result<'provider.check'>> {
  const connection = await context.node();
  return connection.request('provider.check', { provider }, { timeoutMs: ASK_TIMEOUT_MS });
}
