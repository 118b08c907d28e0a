import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshName, type Context } from '../context.ts';
import { Gate } from '../gate.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { median } from '../statistics.ts';
import { CLEAR_SCREEN, writeColourStream, writePlainStream } from '../streams.ts';
import type { Subject } from '../subjects/subject.ts';
import { COLUMNS, ROWS } from '../terminal.ts';
import { openViewedSession, printingCommand } from '../viewed-session.ts';

const END = 'END-OF-STREAM-9c4e';
/** Ratio to tmux that is asked for, by number of sessions at once. */
const TARGET_RATIOS = [
  { atLeastSessions: 8, ratio: 1.5 },
  { atLeastSessions: 1, ratio: 1 },
];

export async function measureThroughput(context: Context): Promise<SectionResult> {
  const { scale, scratch } = context;
  const tail = join(scratch, 'tail');
  writeFileSync(tail, `${CLEAR_SCREEN}${END}`);
  const streams = [
    { kind: 'plain', file: join(scratch, 'plain'), bytes: scale.plainBytes },
    { kind: 'colour', file: join(scratch, 'colour'), bytes: scale.colourBytes },
  ];
  writePlainStream(join(scratch, 'plain'), scale.plainBytes);
  writeColourStream(join(scratch, 'colour'), scale.colourBytes, COLUMNS, ROWS);

  const samples = new Samples();
  const rows: { row: string; sessions: number }[] = [];
  for (const sessions of scale.parallelSessions) {
    const repetitions = sessions === 1 ? scale.repetitions : scale.longRepetitions;
    for (const { kind, file, bytes } of streams) {
      const row = `${kind} ${bytes / 1e6} MB, ${sessions} session${sessions === 1 ? '' : 's'}`;
      rows.push({ row, sessions });
      for (let repetition = 0; repetition < repetitions; repetition += 1) {
        for (const subject of context.subjects) {
          const seconds = await printAtOnce(context, subject, sessions, [file, tail]);
          const rate = (sessions * bytes) / 1e6 / seconds;
          context.progress(`${row}, ${subject.name}: ${rate.toFixed(1)} MB/s`);
          samples.add(row, 'MB/s', subject.name, rate);
        }
      }
    }
  }
  return {
    id: 'a',
    title: 'Output throughput, session to attached client',
    method:
      'Every session has its own attached client in a pseudoterminal that is read as fast as possible. Time from ' +
      'letting all children print at once until the end marker has reached the last client; bytes printed by all ' +
      'children divided by that time. A client may be shown a current screen instead of every byte.',
    measurements: samples.measurements,
    verdicts: rows.map(({ row, sessions }) => judge(samples, row, sessions)),
  };
}

async function printAtOnce(
  context: Context,
  subject: Subject,
  sessions: number,
  files: readonly string[],
): Promise<number> {
  const gates: Gate[] = [];
  const views = [];
  for (let index = 0; index < sessions; index += 1) {
    const gate = await Gate.make(join(context.scratch, freshName()));
    gates.push(gate);
    views.push(await openViewedSession(subject, printingCommand(gate.path, files)));
  }
  const ends = views.map(({ terminal }) => terminal.until(END));
  const starts = await Promise.all(gates.map((gate) => gate.go()));
  const finished = Math.max(...(await Promise.all(ends)));
  await Promise.all(views.map((view) => view.close()));
  await Promise.all(gates.map((gate) => gate.remove()));
  return (finished - Math.min(...starts)) / 1000;
}

function judge(samples: Samples, row: string, sessions: number): Verdict {
  const roost = samples.of(row, 'roost');
  const tmux = samples.of(row, 'tmux');
  const wanted = TARGET_RATIOS.find(({ atLeastSessions }) => sessions >= atLeastSessions)?.ratio ?? 1;
  const target = `${row}: at least ${wanted}x tmux`;
  if (roost === undefined || tmux === undefined) return { target, measured: 'not measured', met: null };
  const ratio = median(roost) / median(tmux);
  return { target, measured: `${ratio.toFixed(2)}x`, met: ratio >= wanted };
}
