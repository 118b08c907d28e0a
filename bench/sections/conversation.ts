import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NodeConnection } from '@roost/client';
import { addressOf, type Session } from '@roost/protocol';
import type { Context } from '../context.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { percentile } from '../statistics.ts';
import { RoostSubject } from '../subjects/roost.ts';

/** As seen from the bundled program, `bench/dist/run.js`. */
const AGENT = fileURLToPath(new URL('../../test/support/spoken-agent.mjs', import.meta.url));
/** Characters of text in each line of the agent. */
const TEXT = 10;
const LINES_MIN = 10_000;
const LINES = 'lines, through parsing and timeline to a client';
const ASIDE = 'another answer meanwhile';
const BYTES_GROWN = 'memory that the node grew by';

export async function measureConversation(context: Context): Promise<SectionResult> {
  const { scale, subjects, progress } = context;
  const samples = new Samples();
  const roost = subjects.find((subject) => subject instanceof RoostSubject);
  if (roost !== undefined) {
    const { directory } = roost.target;
    const programs = join(directory, '.local', 'bin');
    mkdirSync(programs, { recursive: true });
    symlinkSync(AGENT, join(programs, 'qwen'));
    const connection = await roost.connection();
    const session = await connection.request('session.spawn', {
      directory,
      transport: 'pipe',
      launch: { kind: 'provider', provider: 'qwen', arguments: [] },
    });
    try {
      await measure(context, samples, connection, session);
    } finally {
      await connection.request('session.stop', { ...addressOf(session), force: true });
    }
    progress(`conversation: ${scale.spokenRounds} times ${scale.spokenLines} lines`);
  }
  return {
    id: 'm',
    title: 'An agent that is spoken with',
    method:
      `A stand-in speaks ACP and writes ${scale.spokenLines} lines with ${TEXT} characters of text as fast as it can, ` +
      `${scale.spokenRounds} times; a client follows the timeline until it has all of the text. ` +
      `Another request is asked again and again meanwhile.`,
    measurements: samples.measurements,
    verdicts: judge(samples),
  };
}

async function measure(
  { scale }: Context,
  samples: Samples,
  connection: NodeConnection,
  session: Session,
): Promise<void> {
  const others: number[] = [];
  const residentBytes = async () => (await connection.request('node.status', {})).residentBytes;
  // The first turn waits for the agent to start.
  await flood(connection, session, 1);
  const before = await residentBytes();
  for (let round = 0; round < scale.spokenRounds; round += 1) {
    const state = { isDone: false };
    const startedAt = performance.now();
    const whole = flood(connection, session, scale.spokenLines).finally(() => {
      state.isDone = true;
    });
    while (!state.isDone) {
      const askedAt = performance.now();
      await connection.request('controller.show', {});
      others.push(performance.now() - askedAt);
    }
    await whole;
    samples.add(LINES, 'lines/s', 'roost', scale.spokenLines / ((performance.now() - startedAt) / 1_000));
  }
  samples.add(`${ASIDE}, p99`, 'ms', 'roost', percentile(others, 0.99));
  samples.add(BYTES_GROWN, 'MiB', 'roost', Math.max(0, (await residentBytes()) - before) / 1024 / 1024);
}

/** A turn, until a client has read all of its text. */
async function flood(connection: NodeConnection, session: Session, lines: number): Promise<void> {
  const { id: sessionId } = session;
  let { next: from } = await connection.request('session.readTimeline', { sessionId, from: -1 });
  await connection.request('session.prompt', {
    ...addressOf(session),
    text: `flood ${lines}`,
    until: 'written',
  });
  let characters = 0;
  for (let isOver = false; !isOver;) {
    const page = await connection.request('session.readTimeline', { sessionId, from, waitMs: 10_000 });
    from = page.next;
    for (const { event } of page.entries) {
      if (event.kind === 'message') characters += event.text.length;
      isOver ||= event.kind === 'turn-finished';
    }
  }
  if (characters !== lines * TEXT) throw new Error(`${characters} of ${lines * TEXT} characters came`);
}

function judge(samples: Samples): Verdict[] {
  const rates = samples.of(LINES, 'roost');
  if (rates === undefined) return [];
  const rate = percentile([...rates], 0.5);
  return [
    {
      target: `${LINES}: at least ${LINES_MIN} a second`,
      measured: `${rate.toFixed(0)} lines/s`,
      met: rate >= LINES_MIN,
    },
  ];
}
