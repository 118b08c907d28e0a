import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeConnection } from '@roost/client';
import type { Context } from '../context.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { percentile } from '../statistics.ts';
import { RoostSubject } from '../subjects/roost.ts';

/** Projects that the sessions ran in, each a directory of its own. */
const PROJECTS = 50;
/** Messages of one session: as long as a short conversation. */
const MESSAGES = 20;
/** Milliseconds after which a node looks at the disk again. */
const STALE_MS = 1_100;
const MOST_MS = 300;
const COLD = 'listed for the first time';
const WARM = 'listed again, the disk looked at';
const REMEMBERED = 'listed again at once';
const ANSWER = 'another answer meanwhile';

export async function measureKeptSessions(context: Context): Promise<SectionResult> {
  const { scale, subjects, progress } = context;
  const samples = new Samples();
  const roost = subjects.find((subject) => subject instanceof RoostSubject);
  if (roost !== undefined) {
    fill(roost.target.directory, scale.keptSessions);
    progress(`kept sessions: ${scale.keptSessions} are there`);
    await measure(context, samples, await roost.connection());
  }
  return {
    id: 'l',
    title: `A catalog of ${scale.keptSessions} sessions that an agent keeps`,
    method:
      `One file a session, in ${PROJECTS} projects, as Claude Code writes them. \`history.list\` for the first page: once by a node that has ` +
      `never looked, then ${scale.keptLists} times after a pause after which the node looks at the disk again, then as often without one. ` +
      `Another request is asked again and again meanwhile.`,
    measurements: samples.measurements,
    verdicts: judge(samples),
  };
}

function fill(home: string, sessions: number): void {
  const now = Date.now() / 1_000;
  for (let index = 0; index < sessions; index += 1) {
    const directory = `/work/project-${index % PROJECTS}`;
    const folder = join(home, '.claude', 'projects', directory.replaceAll('/', '-'));
    if (index < PROJECTS) mkdirSync(folder, { recursive: true });
    const sessionId = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
    const common = { sessionId, cwd: directory, timestamp: '2026-01-01T00:00:00.000Z', version: '2.1.197' };
    const lines = Array.from({ length: MESSAGES }, (_, number) => {
      const role = number % 2 === 0 ? 'user' : 'assistant';
      const text = `message ${number} of session ${index}, ${'and so on '.repeat(20)}`;
      const message = { role, model: 'some-model', content: [{ type: 'text', text }] };
      return JSON.stringify({ ...common, type: role, message });
    });
    const file = join(folder, `${sessionId}.jsonl`);
    writeFileSync(file, `${lines.join('\n')}\n`);
    utimesSync(file, now - index, now - index);
  }
}

async function measure(
  { scale, progress }: Context,
  samples: Samples,
  connection: NodeConnection,
): Promise<void> {
  const others: number[] = [];
  const list = () => beside(others, connection, () => ask(connection, scale.keptSessions));
  samples.add(COLD, 'ms', 'roost', await list());
  samples.add(`${ANSWER} as the first, worst`, 'ms', 'roost', percentile(others.splice(0), 1));
  const warm: number[] = [];
  for (let index = 0; index < scale.keptLists; index += 1) {
    await sleep(STALE_MS);
    warm.push(await timeOf(() => ask(connection, scale.keptSessions)));
  }
  for (let index = 0; index < scale.keptLists; index += 1) {
    await sleep(STALE_MS);
    await list();
  }
  const remembered: number[] = [];
  for (let index = 0; index < scale.keptLists; index += 1) {
    remembered.push(await timeOf(() => ask(connection, scale.keptSessions)));
  }
  samples.add(`${WARM}, p50`, 'ms', 'roost', percentile(warm, 0.5));
  samples.add(`${WARM}, p95`, 'ms', 'roost', percentile(warm, 0.95));
  samples.add(`${REMEMBERED}, p95`, 'ms', 'roost', percentile(remembered, 0.95));
  samples.add(`${ANSWER}, p99`, 'ms', 'roost', percentile(others, 0.99));
  samples.add(`${ANSWER}, worst`, 'ms', 'roost', percentile(others, 1));
  progress(`kept sessions: listed again in ${percentile(warm, 0.95).toFixed(0)} ms (p95)`);
}

async function ask(connection: NodeConnection, sessions: number): Promise<void> {
  const { recent, older } = await connection.request('history.list', {}, { timeoutMs: 60_000 });
  if (recent + older !== sessions) throw new Error(`${recent + older} of ${sessions} sessions were listed`);
}

/** Milliseconds of the work, and in `others` those of each small request that was asked meanwhile. */
async function beside(
  others: number[],
  connection: NodeConnection,
  work: () => Promise<unknown>,
): Promise<number> {
  const state = { isDone: false };
  const whole = timeOf(work).finally(() => {
    state.isDone = true;
  });
  while (!state.isDone) others.push(await timeOf(() => connection.request('controller.show', {})));
  return whole;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function judge(samples: Samples): Verdict[] {
  const [slowest] = samples.of(`${WARM}, p95`, 'roost') ?? [];
  if (slowest === undefined) return [];
  return [
    {
      target: `p95 of the catalog ${WARM}: at most ${MOST_MS} ms`,
      measured: `${slowest.toFixed(0)} ms`,
      met: slowest <= MOST_MS,
    },
  ];
}
