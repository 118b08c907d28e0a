/** `roost down`: stops hub and node and waits until it is gone, so that the next `roost up` starts a new one. */
import type { Command } from 'commander';
import { FailureError } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { describeFailure } from '../failure-report.ts';
import { isAlive } from '../process-alive.ts';

/** Milliseconds that a node may take to end after it said that it would. */
const GONE_WAIT_MS = 15_000;
/** Milliseconds for stopping every session first, each with its grace. */
const STOP_SESSIONS_WAIT_MS = 120_000;

export function define(command: Command, context: CommandContext): void {
  command.option('--sessions', 'end every session, too').action(async (options: { sessions?: boolean }) => {
    context.stayHere();
    const stopSessions = options.sessions === true;
    await endHub(context);
    const connection = await context.open({ mayStart: false }).then(
      (opened) => opened.connection,
      (error: unknown) => {
        if (error instanceof FailureError && error.failure.code === 'node-not-running') return undefined;
        throw error;
      },
    );
    if (connection === undefined) {
      if (!stopSessions) {
        context.print('no node runs');
        return;
      }
      // Sessions go on without a node; only a node can end them.
      await context.open();
      await stop(context, true);
      return;
    }
    await stop(context, stopSessions);
  });
}

async function stop(context: CommandContext, stopSessions: boolean): Promise<void> {
  const connection = await context.node();
  const { pid } = await connection.request('node.status', {});
  const { stoppedSessions } = await connection.request(
    'node.shutdown',
    { stopSessions },
    { timeoutMs: stopSessions ? STOP_SESSIONS_WAIT_MS : GONE_WAIT_MS },
  );
  const deadline = Date.now() + GONE_WAIT_MS;
  while (isAlive(pid)) {
    if (Date.now() > deadline)
      throw new FailureError('request-timed-out', { operation: 'node.shutdown', pid });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  context.print(
    stopSessions ? `node stopped, ${stoppedSessions} sessions ended` : 'node stopped; sessions go on running',
  );
}

/** The hub of this machine, where one runs: what `roost up` brought. */
async function endHub(context: CommandContext): Promise<void> {
  const [{ existsSync }, { hubSocketPath }] = await Promise.all([import('node:fs'), import('@roost/client')]);
  if (!existsSync(hubSocketPath(await context.home()))) return;
  const { stopHub } = await import('../hub/hub-process.ts');
  try {
    if (await stopHub(context)) context.print('hub stopped');
  } catch (error) {
    // The node is what was asked for.
    context.note(`the hub did not stop: ${describeFailure(error)[0] ?? ''}`);
    context.exitCode = 1;
  }
}
