/** The hub of this machine as a process: found, started, ended. */
import { FailureError } from '@roost/protocol';
import type { HubTarget } from '@roost/client';
import type { CommandContext } from '../command-context.ts';
import { isAlive } from '../process-alive.ts';
import { isHubAway } from './hub-away.ts';

/** Milliseconds for the hub to end: it says good-bye to its clients first. */
const GONE_WAIT_MS = 15_000;
const LOOK_AGAIN_MS = 25;

export async function ensureHub(
  context: CommandContext,
): Promise<{ readonly target: HubTarget; readonly isStarted: boolean }> {
  const { hubSocketPath, startHub } = await import('@roost/client');
  const home = await context.home();
  const target = { socketPath: hubSocketPath(home) };
  const deadline = Date.now() + GONE_WAIT_MS;
  for (;;) {
    if ((await look(target)) !== null) return { target, isStarted: false };
    try {
      await startHub({ home, script: context.terminal.hubScript, env: context.terminal.env });
      return { target, isStarted: true };
    } catch (error) {
      const isHeld = error instanceof FailureError && error.failure.code === 'hub-already-running';
      if (!isHeld || Date.now() > deadline) throw error;
      // Another start won, or a hub is ending and still holds the lock.
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }
}

/** Whether one ran. Waits until it is gone. */
export async function stopHub(context: CommandContext): Promise<boolean> {
  const { hubRequest, hubSocketPath } = await import('@roost/client');
  const target = { socketPath: hubSocketPath(await context.home()) };
  const found = await look(target);
  if (found === null) return false;
  await hubRequest(target, 'hub.shutdown', {});
  const { pid } = found;
  const isThere = async () => (pid === undefined ? (await look(target)) !== null : isAlive(pid));
  const deadline = Date.now() + GONE_WAIT_MS;
  while (await isThere()) {
    if (Date.now() > deadline) throw new FailureError('request-timed-out', { operation: 'hub.shutdown' });
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  return true;
}

/** null when none answers. One of another build may tell no pid. */
async function look(target: HubTarget): Promise<{ readonly pid: number | undefined } | null> {
  const { hubStatus } = await import('@roost/client');
  try {
    const { pid } = await hubStatus(target);
    return { pid };
  } catch (error) {
    if (isHubAway(error)) return null;
    throw error;
  }
}
