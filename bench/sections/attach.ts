import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { durableSubjects, freshName, type Context } from '../context.ts';
import { Gate } from '../gate.ts';
import { waitUntil } from '../processes.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { median } from '../statistics.ts';
import { writePlainStream } from '../streams.ts';
import { ROWS, Terminal, type Launch } from '../terminal.ts';

const LAST = 'LAST-LINE-e03b';
const PART_BYTES = 50_000_000;
const MOST_MS = 100;
const ROW = 'start of the client to a correct screen';

export async function measureAttach(context: Context): Promise<SectionResult> {
  const { scale } = context;
  const partBytes = Math.min(PART_BYTES, scale.historyBytes);
  const part = join(context.scratch, 'attach-part');
  writePlainStream(part, partBytes);
  const parts = Array<string>(Math.round(scale.historyBytes / partBytes)).fill(part);
  const visible = readFileSync(part, 'latin1')
    .trimEnd()
    .split('\n')
    .slice(1 - ROWS);

  const samples = new Samples();
  const launches: { name: string; session: string; launch: Launch }[] = [];
  const durable = durableSubjects(context);
  for (const subject of durable) {
    const session = freshName();
    const gate = await Gate.make(join(context.scratch, session));
    const script =
      'end=$1; gate=$2; shift 2; cat "$@"; printf %s "$end"; echo up > "$gate"; exec sleep 100000';
    const printed = gate.heard();
    const launch = await subject.openSession(session, [
      '/bin/sh',
      '-c',
      script,
      'sh',
      LAST,
      gate.path,
      ...parts,
    ]);
    await printed;
    await gate.remove();
    launches.push({ name: subject.name, session, launch });
  }
  for (let index = 0; index < scale.attachRuns; index += 1) {
    for (const subject of durable) {
      const launch = launches.find(({ name }) => name === subject.name)?.launch;
      if (launch !== undefined) samples.add(ROW, 'ms', subject.name, await attachOnce(launch, visible));
    }
  }
  for (const subject of durable) {
    const session = launches.find(({ name }) => name === subject.name)?.session;
    if (session !== undefined) await subject.closeSession(session);
    context.progress(`attach, ${subject.name}: ${median(samples.of(ROW, subject.name) ?? []).toFixed(1)} ms`);
  }
  return {
    id: 'f',
    title: `Attach to a session with ${scale.historyBytes / 1e6} MB behind it`,
    method:
      'The session printed everything while nobody was attached. Time from starting the client until its terminal has ' +
      `been sent the last line and the ${ROWS - 1} numbered lines above it, complete.`,
    measurements: samples.measurements,
    verdicts: [judge(samples)],
  };
}

async function attachOnce(launch: Launch, visible: readonly string[]): Promise<number> {
  const start = performance.now();
  const terminal = Terminal.open(launch);
  terminal.record();
  let shown = await terminal.until(LAST);
  const complete = () => {
    const picture = terminal.recorded;
    return visible.every((line) => picture.includes(line));
  };
  if (!complete()) {
    await waitUntil('every line of the screen was sent', complete);
    shown = performance.now();
  }
  await terminal.close();
  return shown - start;
}

function judge(samples: Samples): Verdict {
  const values = samples.of(ROW, 'roost');
  const target = `correct screen: at most ${MOST_MS} ms`;
  if (values === undefined) return { target, measured: 'not measured', met: null };
  return { target, measured: `${median(values).toFixed(1)} ms`, met: median(values) <= MOST_MS };
}
