import { join } from 'node:path';
import type { Context } from '../context.ts';
import { startEventNode } from '../event-node.ts';
import { EventReader } from '../event-reader.ts';
import { processorMs } from '../processes.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { median, percentile } from '../statistics.ts';

const CONNECTIONS = 16;
const EVENTS_PER_SECOND = 10_000;
const BATCH = 100;
const LOST = 'events lost, or out of order';
const RATE = 'events per second, at every connection';
const P50 = 'from commit to reader, p50';
const P99 = 'from commit to reader, p99';
const CPU = 'processor time of the node, for one second of events';

export async function measureEventFanOut(context: Context): Promise<SectionResult> {
  const { scale, scratch } = context;
  const samples = new Samples();
  for (let repetition = 0; repetition < scale.repetitions; repetition += 1) {
    await fanOutOnce(context, samples, join(scratch, `node-${repetition}`));
  }
  return {
    id: 'h',
    title: `Durable events to ${CONNECTIONS} connections`,
    method:
      `A process with the journal and the connections of a node appends ${scale.fanOutEvents} events of the size of a session, ` +
      `${BATCH} to a transaction that is on the disk before anybody hears of it, ${EVENTS_PER_SECOND} a second. ` +
      `${CONNECTIONS} connections of one other process count them; one event in ten has its time taken. ` +
      'The rate is that from the first append until the slowest connection has all.',
    measurements: samples.measurements,
    verdicts: judge(samples),
  };
}

async function fanOutOnce(
  { scale, program, progress }: Context,
  samples: Samples,
  home: string,
): Promise<void> {
  const node = await startEventNode(program, home, CONNECTIONS);
  const readers = await Promise.all(Array.from({ length: CONNECTIONS }, () => EventReader.open(node)));
  try {
    const start = performance.now();
    const cpuBefore = processorMs(node.pid);
    const { last } = await node.append({
      events: scale.fanOutEvents,
      batch: BATCH,
      eventsPerSecond: EVENTS_PER_SECOND,
    });
    await Promise.all(readers.map((reader) => reader.until(last)));
    const rate = scale.fanOutEvents / ((performance.now() - start) / 1000);
    const cpu = (processorMs(node.pid) - cpuBefore) / (scale.fanOutEvents / EVENTS_PER_SECOND);
    const latencies = readers.flatMap((reader) => reader.latencies);
    const lost = readers.reduce(
      (sum, reader) => sum + (reader.inOrder ? scale.fanOutEvents - reader.received : scale.fanOutEvents),
      0,
    );
    const p99 = percentile(latencies, 0.99);
    samples.add(RATE, 'events/s', 'roost', rate);
    samples.add(LOST, 'events', 'roost', lost);
    samples.add(P50, 'ms', 'roost', percentile(latencies, 0.5));
    samples.add(P99, 'ms', 'roost', p99);
    samples.add(CPU, 'ms', 'roost', cpu);
    progress(
      `events: ${rate.toFixed(0)}/s at each of ${CONNECTIONS}, ${lost} lost, p99 ${p99.toFixed(1)} ms, ` +
        `${cpu.toFixed(0)} ms of processor time a second`,
    );
  } finally {
    for (const reader of readers) reader.close();
    await node.close();
  }
}

function judge(samples: Samples): Verdict[] {
  const [lost, rate] = [samples.of(LOST, 'roost'), samples.of(RATE, 'roost')];
  if (lost === undefined || rate === undefined) return [];
  return [
    { target: 'events lost: 0', measured: String(percentile(lost, 1)), met: percentile(lost, 1) === 0 },
    {
      target: `${EVENTS_PER_SECOND} events/s to ${CONNECTIONS} connections`,
      measured: `${median(rate).toFixed(0)}/s`,
      // The last of them are still on their way when the pace ends.
      met: median(rate) >= EVENTS_PER_SECOND * 0.97,
    },
  ];
}
