import { addressOf, SessionName } from '@roost/protocol';
import { askBare, openBare } from '../bare-connection.ts';
import { collectGarbage } from '../collect-garbage.ts';
import { freshName, type Context } from '../context.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { percentile } from '../statistics.ts';
import { RoostSubject } from '../subjects/roost.ts';

const MOST_MS = 10;
const WARM_UP = 20;
/** Renames between two of the snapshots that tell only what changed. */
const CHANGES = 5;
/** Answers whose pieces, unless collected before, would make this process pause while it measures. */
const COLLECT_EVERY = 20;
const WHOLE = 'whole';
const DELTA = 'what changed';

export async function measureSnapshot(context: Context): Promise<SectionResult> {
  const { scale } = context;
  const samples = new Samples();
  const roost = context.subjects.find((subject) => subject instanceof RoostSubject);
  if (roost !== undefined) {
    await fill(context, roost);
    for (let repetition = 0; repetition < scale.repetitions; repetition += 1) {
      await measureWhole(context, samples, roost);
      await measureDelta(context, samples, roost);
    }
  }
  return {
    id: 'g',
    title: `Snapshots of ${scale.snapshotRecords} records and ${scale.snapshotSessions} live sessions`,
    method:
      `One observer asks for \`node.snapshot\` ${scale.snapshots} times in a row; from the request until the last byte of the answer is ` +
      `there; the garbage of the client is collected in between. What changed: the same after ${CHANGES} records were renamed, asked with the sequence of before.`,
    measurements: samples.measurements,
    verdicts: judge(samples),
  };
}

async function fill({ scale, progress }: Context, roost: RoostSubject): Promise<void> {
  for (let index = 0; index < scale.snapshotSessions; index += 1) {
    await roost.openSession(freshName(), ['/bin/sh', '-c', 'exec sleep 100000']);
  }
  const connection = await roost.connection();
  const [session] = await roost.sessions();
  if (session === undefined) throw new Error('no session was opened');
  const { workspaceId } = addressOf(session);
  for (let index = 0; index < scale.snapshotRecords; index += 1) {
    await connection.request('record.index', {
      workspaceId,
      provider: 'claude',
      providerSession: { key: 'session-id', id: `known-${index}` },
      name: SessionName.parse(freshName()),
    });
  }
  progress(`snapshot: ${scale.snapshotSessions} sessions and ${scale.snapshotRecords} records are there`);
}

async function measureWhole(
  { scale, progress }: Context,
  samples: Samples,
  roost: RoostSubject,
): Promise<void> {
  const bare = await openBare(roost.target);
  const latencies: number[] = [];
  for (let index = -WARM_UP; index < scale.snapshots; index += 1) {
    if (index % COLLECT_EVERY === 0) collectGarbage();
    const { milliseconds, bytes } = await askBare(bare, 'node.snapshot', {});
    if (index >= 0) latencies.push(milliseconds);
    if (index === 0) samples.add(`${WHOLE}, size`, 'KiB', 'roost', bytes / 1024);
  }
  bare.webSocket.terminate();
  record(samples, WHOLE, latencies);
  progress(`snapshot: p99 ${percentile(latencies, 0.99).toFixed(2)} ms`);
}

async function measureDelta({ scale }: Context, samples: Samples, roost: RoostSubject): Promise<void> {
  const connection = await roost.connection();
  const { records } = await connection.request('record.list', {});
  const bare = await openBare(roost.target);
  const latencies: number[] = [];
  for (let index = 0; index < scale.snapshots / 10; index += 1) {
    const { lastEventSequence } = await connection.request('node.status', {});
    for (let change = 0; change < CHANGES; change += 1) {
      const record = records[(index * CHANGES + change) % records.length];
      if (record === undefined) continue;
      await connection.request('record.rename', {
        recordId: record.id,
        name: SessionName.parse(freshName()),
      });
    }
    const { milliseconds, bytes } = await askBare(bare, 'node.snapshot', {
      changedAfter: lastEventSequence,
    });
    latencies.push(milliseconds);
    if (index === 0) samples.add(`${DELTA}, size`, 'KiB', 'roost', bytes / 1024);
  }
  bare.webSocket.terminate();
  record(samples, DELTA, latencies);
}

function record(samples: Samples, what: string, latencies: readonly number[]): void {
  samples.add(`${what}, p50`, 'ms', 'roost', percentile(latencies, 0.5));
  samples.add(`${what}, p99`, 'ms', 'roost', percentile(latencies, 0.99));
}

function judge(samples: Samples): Verdict[] {
  const values = samples.of(`${WHOLE}, p99`, 'roost');
  if (values === undefined) return [];
  const worst = percentile(values, 1);
  return [
    {
      target: `whole snapshot, p99: at most ${MOST_MS} ms`,
      measured: `${worst.toFixed(2)} ms`,
      met: worst <= MOST_MS,
    },
  ];
}
