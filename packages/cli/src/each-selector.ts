/** Commands on several things: each is tried, each failure is reported, and one failure makes the command fail. */
import type { Session } from '@roost/protocol';
import type { CommandContext } from './command-context.ts';
import { describeFailure } from './failure-report.ts';

export async function forEachSession(
  context: CommandContext,
  selectors: readonly string[],
  act: (session: Session) => Promise<void>,
): Promise<void> {
  await forEachSelector(context, selectors, async (selector) => act(await context.resolveSession(selector)));
}

export async function forEachSelector(
  context: CommandContext,
  selectors: readonly string[],
  act: (selector: string) => Promise<void>,
): Promise<void> {
  // A node that cannot be reached is one failure, not one a name.
  await context.node();
  const outcomes = await Promise.allSettled(selectors.map(act));
  outcomes.forEach((outcome, index) => {
    if (outcome.status === 'fulfilled') return;
    context.exitCode = 1;
    const [first = '', ...hints] = describeFailure(outcome.reason);
    const subject = selectors.length > 1 ? `${first} (${selectors[index] ?? ''})` : first;
    for (const line of [subject, ...hints]) context.terminal.stderr.write(`${line}\n`);
  });
}
