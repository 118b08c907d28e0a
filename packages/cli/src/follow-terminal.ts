/**
 * A terminal session as a growing text. It watches: it never drives, and its size never counts. Attaching comes before
 * the text that is there already is read, so nothing in between is missing; a line may come twice instead.
 */
import { attachSession } from '@roost/client';
import { FailureError, type Session } from '@roost/protocol';
import { ShownOutput } from './attach/shown-output.ts';
import type { CommandContext } from './command-context.ts';
import { EscapeStripper } from './escape-stripper.ts';

/** Size of a watcher: it changes nothing. */
const ANY_SIZE = { columns: 80, rows: 24 };

export async function followTerminal(
  context: CommandContext,
  session: Session,
  signal: AbortSignal,
  printKept: () => Promise<void>,
): Promise<void> {
  const connection = await context.node();
  let attachment;
  try {
    attachment = await attachSession(connection, { sessionId: session.id, mode: 'watch', ...ANY_SIZE });
  } catch (error) {
    if (!(error instanceof FailureError) || error.failure.code !== 'session-not-running') throw error;
    // It is over: what is kept is all there will be.
    await printKept();
    return;
  }
  await printKept();
  // Where its keeper shows it, the node is not needed any more.
  if (connection.isLocal) context.close();
  if (signal.aborted) {
    attachment.close();
    return;
  }
  await new Promise<void>((resolve, reject) => {
    const stripper = new EscapeStripper();
    const shown = new ShownOutput(context.terminal.stdout, (bytes) => attachment.acknowledge(bytes));
    let screens = 0;
    let ended = false;
    const stop = (): void => attachment.close();
    signal.addEventListener('abort', stop, { once: true });
    attachment.start({
      screen: (bytes) => {
        // The first one is what was printed already; a later one means that we were too slow.
        if (screens++ > 0) context.note('some output was skipped');
        attachment.acknowledge(bytes.length);
      },
      output: (bytes) => shown.write(stripper.push(bytes), bytes.length),
      role: () => undefined,
      ended: () => {
        ended = true;
      },
      closed: () => {
        signal.removeEventListener('abort', stop);
        shown.stop();
        if (ended || signal.aborted) resolve();
        else reject(new FailureError('session-lost', { name: session.name }));
      },
    });
  });
}
