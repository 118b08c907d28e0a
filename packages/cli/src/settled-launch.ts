/**
 * A launch that happens once, whatever becomes of the connection: after a loss its outcome is asked for by its idempotency
 * key, and it is submitted again, under the same key, only when the node knows nothing of it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeConnection } from '@roost/client';
import { FailureError, type FailureCode, type ParamsInput, type SpawnReceipt } from '@roost/protocol';
import type { CommandContext } from './command-context.ts';

type Spec = ParamsInput<'spawn.submit'>;

/** Milliseconds beyond the launch's own deadline until the node must have said what became of it. */
const ANSWER_MS = 10_000;
/** Milliseconds that a node may be out of reach before we give up. */
const OUT_OF_REACH_MS = 15_000;
/** Milliseconds between two looks. */
const LOOK_AGAIN_MS = 200;

/** After these, the launch may have happened, or may still. */
const UNDECIDED: readonly FailureCode[] = [
  'connection-lost',
  'node-not-running',
  'node-unresponsive',
  'connections-exhausted',
  'request-timed-out',
  'shutting-down',
];

export async function submitOnce(context: CommandContext, spec: Spec): Promise<SpawnReceipt> {
  try {
    return await submit(await context.node(), spec);
  } catch (error) {
    if (!isUndecided(error)) throw error;
  }
  context.note(`no answer yet; asking what became of launch ${spec.idempotencyKey}`);
  return findOutcome(context, spec);
}

async function findOutcome(context: CommandContext, spec: Spec): Promise<SpawnReceipt> {
  const { idempotencyKey, deadlineMs } = spec;
  const until = Date.now() + deadlineMs + ANSWER_MS;
  let connection: NodeConnection | undefined;
  let reachedAt = Date.now();
  for (;;) {
    try {
      connection ??= await context.reconnect();
      const outcome = await connection.request('spawn.result', { idempotencyKey });
      reachedAt = Date.now();
      switch (outcome.state) {
        case 'accepted':
          return outcome.receipt;
        case 'failed':
          throw FailureError.from(outcome.failure);
        case 'unknown':
          return await submit(connection, spec);
        case 'pending':
      }
    } catch (error) {
      if (!isUndecided(error) || Date.now() - reachedAt > OUT_OF_REACH_MS) throw error;
      connection = undefined;
    }
    if (Date.now() > until) throw new FailureError('request-timed-out', { operation: 'spawn.submit' });
    await sleep(LOOK_AGAIN_MS);
  }
}

function submit(connection: NodeConnection, spec: Spec): Promise<SpawnReceipt> {
  return connection.request('spawn.submit', spec, { timeoutMs: spec.deadlineMs + ANSWER_MS });
}

function isUndecided(error: unknown): boolean {
  return error instanceof FailureError && UNDECIDED.includes(error.failure.code);
}
