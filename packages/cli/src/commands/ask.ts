/** `roost ask`: gives an agent that is spoken with a prompt, and prints its answer as it comes. One that has ended is run on. */
import type { Command } from 'commander';
import { addressOf, FailureError, type AgentEvent, type Session } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { followTimeline, timelineEnd } from '../follow-timeline.ts';
import { interruption } from '../interruption.ts';
import { paletteFor } from '../paint.ts';
import { readAll } from '../read-all.ts';
import { readInitialPrompt, resumeRecord } from '../resume-record.ts';
import { isLive } from '../session-status.ts';
import { TimelineText } from '../timeline-text.ts';

interface AskOptions {
  readonly json?: boolean;
}

/** Milliseconds for a prompt to be written: an agent may have to start first. */
const WRITTEN_MS = 120_000;

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<session>', 'name, id, or unique beginning of an id')
    .argument('<text>', 'the prompt; - reads it from standard input')
    .option('--json', 'print the entries of the turn, one JSON document a line')
    .action(async (selector: string, text: string, options: AskOptions) => {
      const whole = text === '-' ? await readAll(context.terminal.stdin) : text;
      const { session, from } = await give(context, selector, whole);
      await follow(context, session, from, options.json === true);
    });
}

/** Where the turn begins in the timeline, or somewhere before that. */
async function give(
  context: CommandContext,
  selector: string,
  text: string,
): Promise<{ session: Session; from: number }> {
  const session = await context.resolveSession(selector);
  if (!isLive(session) && session.recordId !== null) {
    const resumed = await resumeRecord(context, session.recordId, { prompt: readInitialPrompt(text) });
    return { session: resumed.session, from: 0 };
  }
  const from = await timelineEnd(context, session);
  const answer = await (
    await context.node()
  ).request('session.prompt', { ...addressOf(session), text, until: 'written' }, { timeoutMs: WRITTEN_MS });
  return { session, from: answer.position ?? from };
}

async function follow(context: CommandContext, session: Session, from: number, json: boolean): Promise<void> {
  const { stdout, env } = context.terminal;
  const text = new TimelineText(paletteFor(stdout, env));
  let hasBegun = false;
  using stop = interruption();
  for await (const entry of followTimeline(context, session, { from, follow: true, signal: stop.signal })) {
    const { event } = entry;
    hasBegun ||= event.kind === 'turn-started';
    if (!hasBegun && event.kind !== 'blocked' && event.kind !== 'session-ended') continue;
    // Its words are those that were just typed.
    if (json) stdout.write(`${JSON.stringify(entry)}\n`);
    else if (event.kind !== 'turn-started') stdout.write(text.add(event));
    if (event.kind === 'interaction-requested' && !json)
      context.note(`roost answer ${event.requestId} --allow   or --refuse`);
    if (event.kind === 'session-ended') break;
    if (event.kind === 'turn-finished') {
      stdout.write(text.end());
      if (!isGood(event)) context.exitCode = 1;
      return;
    }
  }
  stdout.write(text.end());
  if (!stop.signal.aborted) throw new FailureError('session-not-running', { sessionId: session.id });
}

const isGood = ({ outcome }: Extract<AgentEvent, { kind: 'turn-finished' }>) =>
  outcome === 'completed' || outcome === 'limit';
