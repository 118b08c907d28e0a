/** `roost wait`: returns when a session has ended; how it ended is printed, and is not this command's exit code. */
import type { Command } from 'commander';
import { FailureError, WAIT_MS_MAX, type Session } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { readSeconds } from '../operands.ts';
import { describeStatus, isLive } from '../session-status.ts';

/** Milliseconds beyond the wait itself that an answer may take. */
const ANSWER_MS = 10_000;

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<session>', 'name, id, or unique beginning of an id')
    .option('-t, --timeout <seconds>', 'give up after so long (exit code 1)')
    .option('--json', 'print the session as one JSON document')
    .action(async (selector: string, options: { timeout?: string; json?: boolean }) => {
      const limit = options.timeout === undefined ? Number.POSITIVE_INFINITY : readSeconds(options.timeout);
      const session = await waitForEnd(context, await context.resolveSession(selector), Date.now() + limit);
      if (options.json === true) context.printJson(session);
      else context.print(describeStatus(session));
      if (isLive(session)) throw new FailureError('request-timed-out', { operation: 'session.wait' });
    });
}

async function waitForEnd(context: CommandContext, session: Session, deadline: number): Promise<Session> {
  const connection = await context.node();
  let current = session;
  while (isLive(current)) {
    const waitMs = Math.min(WAIT_MS_MAX, Math.max(0, deadline - Date.now()));
    current = await connection.request(
      'session.wait',
      { sessionId: session.id, waitMs },
      { timeoutMs: waitMs + ANSWER_MS },
    );
    if (waitMs === 0) break;
  }
  return current;
}
