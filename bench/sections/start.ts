import { join } from 'node:path';
import { durableSubjects, freshName, type Context } from '../context.ts';
import { Gate } from '../gate.ts';
import { run, timed } from '../processes.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { median } from '../statistics.ts';
import { type DurableSubject, type Subject, plainEnvironment } from '../subjects/subject.ts';
import { Terminal } from '../terminal.ts';

const FIRST = 'FIRST-OUTPUT-2aa7';
const PRINTING = ['/bin/sh', '-c', 'printf %s "$1"; exec sleep 100000', 'sh', FIRST];
const RUN = 'run and show, to first output';
const DETACHED = 'run detached, to the child running';
const LIST = 'list with one session';
const RUNTIME = 'node -e 0 (what any Node program pays)';

export async function measureStart(context: Context): Promise<SectionResult> {
  const samples = new Samples();
  const durable = durableSubjects(context);
  const listed = new Map<DurableSubject, string>();
  for (const subject of durable) {
    listed.set(subject, freshName());
    await run(subject.detachedLaunch(listed.get(subject) ?? '', ['sleep', '100000']));
  }
  const runtime = {
    file: process.execPath,
    arguments: ['-e', '0'],
    directory: context.scratch,
    environment: plainEnvironment(context.scratch),
  };
  for (let index = 0; index < context.scale.startRuns; index += 1) {
    for (const subject of context.subjects) samples.add(RUN, 'ms', subject.name, await runAndShow(subject));
    for (const subject of durable) {
      samples.add(DETACHED, 'ms', subject.name, await runDetached(context, subject));
      samples.add(LIST, 'ms', subject.name, await timed(subject.listLaunch()));
    }
    samples.add(RUNTIME, 'ms', 'bare', await timed(runtime));
  }
  for (const [subject, name] of listed) await subject.closeSession(name);
  for (const { what, samples: bySubject } of samples.measurements) {
    for (const [name, values] of Object.entries(bySubject)) {
      context.progress(`${what}, ${name}: ${median(values).toFixed(1)} ms`);
    }
  }
  return {
    id: 'c',
    title: 'Start',
    method:
      `Server already up, ${context.scale.startRuns} runs of each in turn. Run and show: from starting the client in a ` +
      'terminal until the first output of the child is shown (bare: the child itself). Detached: until the child, once ' +
      'running, has written to a pipe. List: the whole life of the command.',
    measurements: samples.measurements,
    verdicts: judge(samples),
  };
}

async function runAndShow(subject: Subject): Promise<number> {
  const name = freshName();
  const start = performance.now();
  const terminal = Terminal.open(subject.runLaunch(name, PRINTING));
  const elapsed = (await terminal.until(FIRST)) - start;
  await terminal.close();
  await subject.closeSession(name);
  return elapsed;
}

async function runDetached(context: Context, subject: DurableSubject): Promise<number> {
  const name = freshName();
  const gate = await Gate.make(join(context.scratch, name));
  const command = ['/bin/sh', '-c', 'echo up > "$1"; exec sleep 100000', 'sh', gate.path];
  const start = performance.now();
  const heard = gate.heard();
  const spawned = run(subject.detachedLaunch(name, command));
  const elapsed = (await heard) - start;
  await spawned;
  await subject.closeSession(name);
  await gate.remove();
  return elapsed;
}

function judge(samples: Samples): Verdict[] {
  const roost = samples.of(RUN, 'roost');
  const bare = samples.of(RUN, 'bare');
  const list = samples.of(LIST, 'roost');
  const missing = { measured: 'not measured', met: null };
  const over = roost === undefined || bare === undefined ? undefined : median(roost) - median(bare);
  return [
    {
      target: 'first output: at most 150 ms over the bare child',
      ...(over === undefined ? missing : { measured: `${over.toFixed(1)} ms over`, met: over <= 150 }),
    },
    {
      target: 'list: at most 120 ms',
      ...(list === undefined
        ? missing
        : { measured: `${median(list).toFixed(1)} ms`, met: median(list) <= 120 }),
    },
  ];
}
