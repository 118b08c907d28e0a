import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableSubjects, freshName, type Context } from '../context.ts';
import { Gate } from '../gate.ts';
import { weigh, type Weight } from '../processes.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { median } from '../statistics.ts';
import { writePlainStream } from '../streams.ts';
import type { DurableSubject } from '../subjects/subject.ts';

const MOST_MIB_A_SESSION = 3;
/** A history of 5,000 lines and then some. */
const HISTORY_BYTES = 6000 * 81;

export async function measureMemory(context: Context): Promise<SectionResult> {
  const samples = new Samples();
  for (const subject of durableSubjects(context)) {
    await weighIdle(context, samples, subject);
    await weighFull(context, samples, subject);
  }
  return {
    id: 'd',
    title: 'Memory of the server side',
    method:
      'Proportional set size of the whole server side (node and keepers; the tmux server), children of sessions not ' +
      'counted, after a quiet while. A session: (with n sessions - with none) / n. Own: private pages only. Idle ' +
      'sessions have printed one line; the last rows are sessions whose history of 5,000 lines is full.',
    measurements: samples.measurements,
    verdicts: context.scale.idleSessions.map((count) => judge(samples, count)),
  };
}

async function weighIdle(context: Context, samples: Samples, subject: DurableSubject): Promise<void> {
  let opened = 0;
  const empty = await settled(context, subject);
  report(context, samples, subject, 'no sessions', empty);
  for (const count of context.scale.idleSessions) {
    for (; opened < count; opened += 1) {
      await subject.openSession(freshName(), ['/bin/sh', '-c', 'echo idle; exec sleep 100000']);
    }
    const now = await settled(context, subject);
    report(context, samples, subject, `${count} idle`, now);
    samples.add(perSession(count), 'MiB', subject.name, (now.pss - empty.pss) / count);
  }
}

async function weighFull(context: Context, samples: Samples, subject: DurableSubject): Promise<void> {
  // A fresh server: a used one has grown already.
  await subject.teardown();
  await subject.prepare();
  const file = join(context.scratch, 'history');
  writePlainStream(file, HISTORY_BYTES);
  const gate = await Gate.make(join(context.scratch, freshName()));
  const command = ['/bin/sh', '-c', 'cat "$1"; echo up > "$2"; exec sleep 100000', 'sh', file, gate.path];
  const count = context.scale.fullHistorySessions;
  const empty = await settled(context, subject);
  for (let opened = 0; opened < count; opened += 1) {
    const printed = gate.heard();
    await subject.openSession(freshName(), command);
    await printed;
  }
  const now = await settled(context, subject);
  report(context, samples, subject, `${count} with full history`, now);
  const each = (now.pss - empty.pss) / count;
  samples.add(`a session, of ${count} with full history`, 'MiB', subject.name, each);
  await gate.remove();
}

async function settled({ scale }: Context, subject: DurableSubject): Promise<Weight> {
  await sleep(scale.settleMs);
  return weigh(await subject.serverProcesses());
}

function report(
  context: Context,
  samples: Samples,
  subject: DurableSubject,
  what: string,
  { pss, own }: Weight,
): void {
  samples.add(`${what}, in all`, 'MiB', subject.name, pss);
  samples.add(`${what}, own`, 'MiB', subject.name, own);
  context.progress(`memory ${what}, ${subject.name}: ${pss.toFixed(1)} MiB, own ${own.toFixed(1)}`);
}

const perSession = (count: number) => `a session, of ${count} idle`;

function judge(samples: Samples, count: number): Verdict {
  const values = samples.of(perSession(count), 'roost');
  const target = `${perSession(count)}: at most ${MOST_MIB_A_SESSION} MiB`;
  if (values === undefined) return { target, measured: 'not measured', met: null };
  const value = median(values);
  return { target, measured: `${value.toFixed(2)} MiB`, met: value <= MOST_MIB_A_SESSION };
}
