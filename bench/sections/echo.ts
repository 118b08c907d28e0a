import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeFileSync } from 'node:fs';
import { freshName, type Context } from '../context.ts';
import { startDrain } from '../drain.ts';
import { Gate } from '../gate.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { median, percentile } from '../statistics.ts';
import { CLEAR_SCREEN, writePlainStream } from '../streams.ts';
import type { Subject } from '../subjects/subject.ts';
import type { Terminal } from '../terminal.ts';
import { openViewedSession, printingCommand, READY } from '../viewed-session.ts';

/** Raw mode: neither the kernel nor a line editor echoes, only `cat` does, byte by byte. */
const ECHO_COMMAND = ['/bin/sh', '-c', 'stty raw -echo; printf %s "$1"; exec cat', 'sh', READY];
/** Letters that end no common control sequence, so that a redraw is not taken for an echo. */
const KEYS = ['e', 'g', 'j', 'k', 'o', 'v', 'w', 'y', 'z'];
/** Between an echo and the next key: long enough for every queue to drain, as between a person's keys. */
const PAUSE_MS = 2;
const WARM_UP_KEYS = 50;
const FLOOD_END = 'END-OF-FLOOD-71d0';
const FLOOD_PART_BYTES = 50_000_000;
const SHARES = [
  ['p50', 0.5],
  ['p95', 0.95],
  ['p99', 0.99],
] as const;

export async function measureEcho(context: Context): Promise<SectionResult> {
  const { scale } = context;
  const part = join(context.scratch, 'flood');
  const partBytes = Math.min(FLOOD_PART_BYTES, scale.floodBytes);
  writePlainStream(part, partBytes);
  const tail = join(context.scratch, 'flood-tail');
  writeFileSync(tail, `${CLEAR_SCREEN}${FLOOD_END}`);
  const flood = [...Array<string>(Math.round(scale.floodBytes / partBytes)).fill(part), tail];

  const samples = new Samples();
  for (let repetition = 0; repetition < scale.longRepetitions; repetition += 1) {
    for (const subject of context.subjects) {
      const view = await openViewedSession(subject, ECHO_COMMAND);
      await typeKeys(view.terminal, WARM_UP_KEYS);
      record(context, samples, 'idle', subject, await typeKeys(view.terminal, scale.keystrokes));
      record(
        context,
        samples,
        'beside a flood',
        subject,
        await typeBesideFlood(context, subject, view.terminal, flood),
      );
      await view.close();
    }
  }
  return {
    id: 'b',
    title: 'Keystroke echo latency',
    method:
      `One key at a time through the attached client to a raw-mode echo program and back, ${scale.keystrokes} keys idle; ` +
      `then as many as fit while a neighbour session of the same server floods ${scale.floodBytes / 1e6} MB to its own client, ` +
      'which a process of its own reads. Percentiles of each repetition; their median is quoted.',
    measurements: samples.measurements,
    verdicts: judge(samples),
  };
}

async function typeKeys(terminal: Terminal, count: number, goOn = () => true): Promise<number[]> {
  const latencies: number[] = [];
  for (let index = 0; index < count && goOn(); index += 1) {
    latencies.push(await terminal.echo(KEYS[index % KEYS.length] ?? 'e'));
    await sleep(PAUSE_MS);
  }
  return latencies;
}

async function typeBesideFlood(
  context: Context,
  subject: Subject,
  terminal: Terminal,
  flood: readonly string[],
): Promise<number[]> {
  const name = freshName();
  const gate = await Gate.make(join(context.scratch, name));
  const launch = await subject.openSession(name, printingCommand(gate.path, flood));
  const drain = await startDrain(context.program, { launch, end: FLOOD_END });
  let flooding = true;
  const ended = drain.ended.then(() => {
    flooding = false;
  });
  const start = await gate.go();
  const latencies = await typeKeys(terminal, Infinity, () => flooding);
  await ended;
  const rate = context.scale.floodBytes / 1e3 / (performance.now() - start);
  context.progress(`flood beside, ${subject.name}: ${rate.toFixed(1)} MB/s, ${latencies.length} keys`);
  await drain.close();
  await subject.closeSession(name);
  await gate.remove();
  return latencies;
}

function record(
  context: Context,
  samples: Samples,
  when: string,
  subject: Subject,
  latencies: readonly number[],
): void {
  for (const [label, share] of SHARES) {
    const value = percentile(latencies, share);
    samples.add(`${when}, ${label}`, 'ms', subject.name, value);
    context.progress(`echo ${when}, ${subject.name}, ${label}: ${value.toFixed(2)} ms`);
  }
}

function judge(samples: Samples): Verdict[] {
  return [
    judgeRatio(samples, 'idle, p50', 3),
    judgeRatio(samples, 'idle, p99', 1.5),
    judgeLimit(samples, 'beside a flood, p95', 10),
  ];
}

function judgeRatio(samples: Samples, row: string, most: number): Verdict {
  const roost = samples.of(row, 'roost');
  const tmux = samples.of(row, 'tmux');
  const target = `${row}: at most ${most}x tmux`;
  if (roost === undefined || tmux === undefined) return { target, measured: 'not measured', met: null };
  const ratio = median(roost) / median(tmux);
  return { target, measured: `${ratio.toFixed(2)}x`, met: ratio <= most };
}

function judgeLimit(samples: Samples, row: string, mostMs: number): Verdict {
  const roost = samples.of(row, 'roost');
  const target = `${row}: at most ${mostMs} ms`;
  if (roost === undefined) return { target, measured: 'not measured', met: null };
  const value = median(roost);
  return { target, measured: `${value.toFixed(2)} ms`, met: value <= mostMs };
}
