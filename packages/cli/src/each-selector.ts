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
  if ((await context.hub()) === null) await context.node();
  // Things of several nodes one after the other: there is one node at a time.
  const outcomes =
    (await context.hub()) === null
      ? await Promise.allSettled(selectors.map(act))
      : await oneByOne(selectors, act);
  outcomes.forEach((outcome, index) => {
    if (outcome.status === 'fulfilled') return;
    context.exitCode = 1;
    const [first = '', ...hints] = describeFailure(outcome.reason);
    const subject = selectors.length > 1 ? `${first} (${selectors[index] ?? ''})` : first;
    for (const line of [subject, ...hints]) context.terminal.stderr.write(`${line}\n`);
  });
}

async function oneByOne(
  selectors: readonly string[],
  act: (selector: string) => Promise<void>,
): Promise<PromiseSettledResult<void>[]> {
  const outcomes: PromiseSettledResult<void>[] = [];
  for (const selector of selectors) outcomes.push(...(await Promise.allSettled([act(selector)])));
  return outcomes;
}
