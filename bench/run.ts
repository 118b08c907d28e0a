/**
 * `npm run bench`: measures Roost beside tmux and a bare pseudoterminal. Everything it starts has a home of its own in a
 * temporary directory and is ended by handle, also when interrupted or failing.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { FULL, QUICK, type Context } from './context.ts';
import { runDrain } from './drain.ts';
import { runEventNode } from './event-node.ts';
import { runStubFleet } from './hub/stub-fleet.ts';
import { describeMachine, type Machine } from './machine.ts';
import { renderReport } from './report.ts';
import type { SectionResult } from './result.ts';
import { measureAttach } from './sections/attach.ts';
import { measureFirstBoard } from './sections/board.ts';
import { measureConversation } from './sections/conversation.ts';
import { measureEcho } from './sections/echo.ts';
import { measureEventFanOut } from './sections/event-fan-out.ts';
import { measureGit } from './sections/git.ts';
import { measureHubNodes } from './sections/hub-nodes.ts';
import { measureHubTerminal } from './sections/hub-terminal.ts';
import { measureInterrupt } from './sections/interrupt.ts';
import { measureKeptSessions } from './sections/kept-sessions.ts';
import { measureMemory } from './sections/memory.ts';
import { measureRestart } from './sections/restart.ts';
import { measureSnapshot } from './sections/snapshot.ts';
import { measureStart } from './sections/start.ts';
import { measureThroughput } from './sections/throughput.ts';
import { measureWorkspaces } from './sections/workspaces.ts';
import { BareSubject } from './subjects/bare.ts';
import { RoostSubject } from './subjects/roost.ts';
import type { Subject } from './subjects/subject.ts';
import { TmuxSubject } from './subjects/tmux.ts';

const USAGE = `Usage: npm run bench -- [--quick] [--only a,b] [--out DIR]
  --quick     small sizes, a minute or two: shows that it works, its numbers mean little
  --only IDS  some sections: a throughput, b echo, c start, d memory, e node restart, f attach,
              g snapshot, h event fan-out, i interrupt, j git, k workspaces, l kept sessions,
              m conversation, n hub with many nodes, o terminal through a hub,
              p first view of the web UI
  --out DIR   where RESULTS.md and results.json go; a full run writes them to bench/, others to standard output
`;

const SECTIONS: Readonly<Record<string, (context: Context) => Promise<SectionResult>>> = {
  a: measureThroughput,
  b: measureEcho,
  c: measureStart,
  d: measureMemory,
  e: measureRestart,
  f: measureAttach,
  g: measureSnapshot,
  h: measureEventFanOut,
  i: measureInterrupt,
  j: measureGit,
  k: measureWorkspaces,
  l: measureKeptSessions,
  m: measureConversation,
  n: measureHubNodes,
  o: measureHubTerminal,
  p: measureFirstBoard,
};

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) return 2;
  const startedAt = performance.now();
  const progress = (line: string) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(4);
    process.stderr.write(`${seconds} s  ${line}\n`);
  };
  if (!RoostSubject.isBuilt()) {
    process.stderr.write('packages/cli/dist/roost.js is missing: run npm run build\n');
    return 1;
  }
  const machine = await describeMachine();
  if (machine.tmux === null) progress('tmux is not installed: going on without it');

  const root = mkdtempSync(join(tmpdir(), 'roost-bench-'));
  const subjects = makeSubjects(root, machine);
  const endEverything = async () => {
    await Promise.all(subjects.map((subject) => subject.teardown()));
    rmSync(root, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void endEverything().finally(() => process.exit(1)));
  }

  const sections: SectionResult[] = [];
  try {
    for (const id of options.only) {
      const measure = SECTIONS[id];
      if (measure === undefined) continue;
      progress(`section ${id}`);
      const scratch = join(root, `section-${id}`);
      mkdirSync(scratch);
      // A server of its own for each section: none inherits the memory of another.
      for (const subject of subjects) await subject.prepare();
      const program = fileURLToPath(import.meta.url);
      sections.push(await measure({ scale: options.scale, subjects, scratch, program, progress }));
      await Promise.all(subjects.map((subject) => subject.teardown()));
      rmSync(scratch, { recursive: true, force: true });
    }
  } finally {
    await endEverything();
  }

  const minutes = (performance.now() - startedAt) / 60_000;
  const results = { machine, subjects: subjects.map(({ name }) => name), minutes, sections };
  if (options.out === undefined) {
    process.stdout.write(renderReport(results));
  } else {
    mkdirSync(options.out, { recursive: true });
    writeFileSync(join(options.out, 'RESULTS.md'), renderReport(results));
    writeFileSync(join(options.out, 'results.json'), `${JSON.stringify(results, null, 1)}\n`);
    progress(`written to ${options.out}`);
  }
  return 0;
}

function makeSubjects(root: string, machine: Machine): Subject[] {
  const home = (name: string) => {
    const path = join(root, name);
    mkdirSync(path, { mode: 0o700 });
    return path;
  };
  return [
    new BareSubject(home('bare')),
    ...(machine.tmux === null ? [] : [new TmuxSubject(home('tmux'))]),
    new RoostSubject(home('roost')),
  ];
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: { quick: { type: 'boolean' }, only: { type: 'string' }, out: { type: 'string' } },
    });
    const only = values.only?.split(',') ?? Object.keys(SECTIONS);
    const unknown = only.find((id) => !(id in SECTIONS));
    if (unknown !== undefined) throw new Error(`no section ${unknown}`);
    const whole = values.quick !== true && values.only === undefined;
    const own = fileURLToPath(new URL('..', import.meta.url));
    return {
      scale: values.quick === true ? QUICK : FULL,
      only,
      out: values.out ?? (whole ? own : undefined),
    };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return undefined;
  }
}

const [, , helper, ...rest] = process.argv;
if (helper === '--drain') runDrain();
else if (helper === '--event-node') await runEventNode(rest[0] ?? '', Number(rest[1]));
else if (helper === '--stub-fleet') runStubFleet();
else process.exitCode = await main();
