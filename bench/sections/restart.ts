import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freshName, type Context } from '../context.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { median, percentile } from '../statistics.ts';
import { RoostSubject } from '../subjects/roost.ts';
import { Terminal } from '../terminal.ts';

const UP = 'killed, until the node is up';
const ATTACHABLE = 'killed, until all are attachable';
const LOST = 'bytes lost of the sessions';
const LOST_CLIENTS = 'bytes lost at attached clients';
const MOST_MS = 2000;
/** Real clients that stay attached over every restart. */
const CLIENTS = 4;
const HISTORY_LINES = 1000;
/** Lines are printed and counted after a restart, too, before looking for a gap. */
const AFTERWARDS_MS = 2500;
/** Every second: prints the next line, then notes that it has. */
const NUMBERING = 'n=0; while :; do n=$((n+1)); echo "line $n."; echo $n > "$1"; sleep 1; done';

export async function measureRestart(context: Context): Promise<SectionResult> {
  const { scale, scratch } = context;
  const samples = new Samples();
  const roost = context.subjects.find((subject) => subject instanceof RoostSubject);
  if (roost !== undefined) {
    const notes = join(scratch, 'notes');
    mkdirSync(notes);
    const clients: Terminal[] = [];
    for (let index = 0; index < scale.restartSessions; index += 1) {
      const name = freshName();
      const launch = await roost.openSession(name, ['/bin/sh', '-c', NUMBERING, 'sh', join(notes, name)]);
      if (index >= CLIENTS) continue;
      const client = Terminal.open(launch);
      client.record();
      await client.until('line 1.');
      clients.push(client);
    }
    for (let repetition = 0; repetition < scale.repetitions; repetition += 1) {
      await restartOnce(context, samples, roost, notes);
    }
    for (const client of clients) {
      samples.add(LOST_CLIENTS, 'bytes', 'roost', missingBytes(client.recorded.split('\n'), 0));
      await client.close();
    }
  }
  return {
    id: 'e',
    title: `Node restart with ${scale.restartSessions} live sessions`,
    method:
      `Each session prints a numbered line a second. The node is killed with SIGKILL and \`roost up\` started at once; all ` +
      'are attachable when the list shows every session running under its old pid and the node has granted an attach ' +
      'for each. Lost: lines that a child has written and that are neither on its screen nor in its history, or that ' +
      `${CLIENTS} clients attached all the while were not sent. tmux has no part that could restart alone.`,
    measurements: samples.measurements,
    verdicts: judge(samples, scale.restartSessions),
  };
}

async function restartOnce(
  context: Context,
  samples: Samples,
  roost: RoostSubject,
  notes: string,
): Promise<void> {
  const before = new Map((await roost.sessions()).map(({ id, pid }) => [id, pid]));
  const start = performance.now();
  await roost.killNode();
  await roost.prepare();
  const up = performance.now() - start;
  const sessions = await roost.sessions();
  const same = sessions.filter(({ id, pid, status }) => status === 'running' && before.get(id) === pid);
  if (same.length !== context.scale.restartSessions) {
    throw new Error(
      `${same.length} of ${context.scale.restartSessions} sessions are there after the restart`,
    );
  }
  await Promise.all(same.map((session) => roost.grantAttach(session)));
  const attachable = performance.now() - start;
  samples.add(UP, 'ms', 'roost', up);
  samples.add(ATTACHABLE, 'ms', 'roost', attachable);

  await sleep(AFTERWARDS_MS);
  let lost = 0;
  for (const session of same) {
    // Noted before the screen is asked for: at least so much must be there.
    const written = Number(readFileSync(join(notes, session.name), 'utf8'));
    lost += missingBytes(await roost.history(session, HISTORY_LINES), written);
  }
  samples.add(LOST, 'bytes', 'roost', lost);
  context.progress(
    `restart: up ${up.toFixed(0)} ms, attachable ${attachable.toFixed(0)} ms, ${lost} bytes lost`,
  );
}

/** Bytes of the lines from 1 up to the last one seen (or `atLeast`) that are not there. */
function missingBytes(lines: readonly string[], atLeast: number): number {
  const seen = new Set(
    lines.flatMap((line) => [...line.matchAll(/line (\d+)\./g)].map((match) => Number(match[1]))),
  );
  const last = Math.max(atLeast, ...seen);
  let bytes = 0;
  for (let number = 1; number <= last; number += 1)
    if (!seen.has(number)) bytes += `line ${number}.\n`.length;
  return bytes;
}

function judge(samples: Samples, sessions: number): Verdict[] {
  const attachable = samples.of(ATTACHABLE, 'roost');
  const lost = samples.of(LOST, 'roost');
  const lostAtClients = samples.of(LOST_CLIENTS, 'roost');
  const missing = { measured: 'not measured', met: null };
  const worst = lost && lostAtClients ? percentile([...lost, ...lostAtClients], 1) : undefined;
  return [
    {
      target: `${sessions} sessions attachable again: at most ${MOST_MS / 1000} s`,
      ...(attachable === undefined
        ? missing
        : { measured: `${(median(attachable) / 1000).toFixed(2)} s`, met: median(attachable) <= MOST_MS }),
    },
    {
      target: 'bytes lost: 0',
      ...(worst === undefined ? missing : { measured: String(worst), met: worst === 0 }),
    },
  ];
}
