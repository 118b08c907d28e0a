/** The hub of this machine as a process: found, started, ended. */
import { FailureError } from '@roost/protocol';
import type { HubTarget } from '@roost/client';
import type { CommandContext } from '../command-context.ts';

/** Milliseconds for the hub to end: it says good-bye to its clients first. */
const GONE_WAIT_MS = 15_000;
const LOOK_AGAIN_MS = 25;

export async function ensureHub(
  context: CommandContext,
): Promise<{ readonly target: HubTarget; readonly isStarted: boolean }> {
  const { hubSocketPath, startHub } = await import('@roost/client');
  const home = await context.home();
  const target = { socketPath: hubSocketPath(home) };
  if (await answers(target)) return { target, isStarted: false };
  try {
    await startHub({ home, script: context.terminal.hubScript, env: context.terminal.env });
    return { target, isStarted: true };
  } catch (error) {
    // Another start won.
    if (!(error instanceof FailureError) || error.failure.code !== 'hub-already-running') throw error;
    const deadline = Date.now() + GONE_WAIT_MS;
    while (!(await answers(target))) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
    return { target, isStarted: false };
  }
}

/** Whether one ran. Waits until it is gone. */
export async function stopHub(context: CommandContext): Promise<boolean> {
  const { hubRequest, hubSocketPath } = await import('@roost/client');
  const target = { socketPath: hubSocketPath(await context.home()) };
  if (!(await answers(target))) return false;
  await hubRequest(target, 'hub.shutdown', {});
  const deadline = Date.now() + GONE_WAIT_MS;
  while (await answers(target)) {
    if (Date.now() > deadline) throw new FailureError('request-timed-out', { operation: 'hub.shutdown' });
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  return true;
}

async function answers(target: HubTarget): Promise<boolean> {
  const { hubRequest } = await import('@roost/client');
  try {
    await hubRequest(target, 'hub.status', {});
    return true;
  } catch (error) {
    const code = error instanceof FailureError ? error.failure.code : null;
    if (code === 'hub-not-running' || code === 'hub-unreachable' || code === 'shutting-down') return false;
    throw error;
  }
}
