import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeConnection } from '@roost/client';
import { addressOf, SPAWN_DEADLINE_MS_MAX, type Session } from '@roost/protocol';
import { freshName, type Context } from '../context.ts';
import { startDrain } from '../drain.ts';
import { Gate } from '../gate.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { percentile } from '../statistics.ts';
import { RoostSubject } from '../subjects/roost.ts';
import { READY } from '../viewed-session.ts';

const MOST_MS = 20;
const PROFILE = 'bench';
/** Between two interrupts: nothing of the one is left when the next comes. */
const PAUSE_MS = 2;
/** Sessions that may be needed until two keepers have some. */
const SPREAD_SESSIONS_MAX = 24;
/** Milliseconds after which a launch that could get on would have. */
const LAUNCH_UNDER_WAY_MS = 1000;
const WARM_UP = 20;
const NEVER = 'never-7c1e';
const IGNORING = ['/bin/sh', '-c', "trap '' INT; exec sleep 100000"];
/** Says that it is ready, waits for the gate, prints without end. */
const FLOOD = 'printf %s "$1"; read -r go < "$2"; while :; do cat /proc/cpuinfo; done';
const IDLE = 'idle';
const BUSY = 'with a launch pending and a flood';

export async function measureInterrupt(context: Context): Promise<SectionResult> {
  const samples = new Samples();
  const roost = context.subjects.find((subject) => subject instanceof RoostSubject);
  if (roost !== undefined) await interruptAll(context, samples, roost);
  return {
    id: 'i',
    title: 'Interrupts beside a slow launch and a flood',
    method:
      `${context.scale.interrupts} times \`session.interrupt\`, one at a time, to a program that ignores it, from the request to the ` +
      'answer. Beside it: a launch with the longest deadline that does not get on, since its keeper is stopped, and a session ' +
      'that prints as fast as it can to a client of a process of its own, in the same keeper as the interrupted one.',
    measurements: samples.measurements,
    verdicts: judge(samples),
  };
}

async function interruptAll(context: Context, samples: Samples, roost: RoostSubject): Promise<void> {
  const connection = await roost.connection();
  await roost.openSession(freshName(), IGNORING);
  const [target] = await roost.sessions();
  if (target === undefined) throw new Error('no session was opened');
  await interrupt(context, samples, connection, target, IDLE);

  const gate = await Gate.make(join(context.scratch, freshName()));
  const flood = ['/bin/sh', '-c', FLOOD, 'sh', READY, gate.path];
  const drain = await startDrain(context.program, {
    launch: await roost.openSession(freshName(), flood),
    end: NEVER,
  });
  const pid = await otherKeeper(roost, connection, target);
  process.kill(pid, 'SIGSTOP');
  try {
    await gate.go();
    const launch = await beginLaunch(connection, roost, target);
    await sleep(LAUNCH_UNDER_WAY_MS);
    launch.mustBePending();
    await interrupt(context, samples, connection, target, BUSY);
    launch.mustBePending();
  } finally {
    process.kill(pid, 'SIGCONT');
    await drain.close();
    await gate.remove();
  }
}

/** Opens sessions until another keeper has one; the next one goes there, too. Answers its pid. */
async function otherKeeper(
  roost: RoostSubject,
  connection: NodeConnection,
  target: Session,
): Promise<number> {
  for (let opened = 0; opened < SPREAD_SESSIONS_MAX; opened += 1) {
    await roost.openSession(freshName(), IGNORING);
    const other = (await roost.sessions()).find(({ keeperId }) => keeperId !== target.keeperId);
    if (other === undefined) continue;
    const { keepers } = await connection.request('node.status', {});
    const keeper = keepers.find(({ id }) => id === other.keeperId);
    if (keeper !== undefined) return keeper.pid;
  }
  throw new Error('all sessions are in one keeper: this needs a machine with two cores');
}

/** A launch by profile, with the longest deadline. */
async function beginLaunch(
  connection: NodeConnection,
  roost: RoostSubject,
  { workspaceId }: Session,
): Promise<{ mustBePending(): void }> {
  const profiles = join(roost.target.home, 'profiles', 'spawn');
  mkdirSync(profiles, { recursive: true });
  writeFileSync(join(profiles, `${PROFILE}.json`), JSON.stringify({ provider: 'shell' }));
  const profile = (await connection.request('profile.list', {})).profiles.find(({ id }) => id === PROFILE);
  if (profile === undefined) throw new Error('the node does not see the profile');
  let outcome: string | null = null;
  connection
    .request(
      'spawn.submit',
      {
        target: { nodeId: connection.node.id, workspaceId },
        profileId: profile.id,
        expectedRevision: profile.revision,
        deadlineMs: SPAWN_DEADLINE_MS_MAX,
        idempotencyKey: freshName(),
      },
      { timeoutMs: SPAWN_DEADLINE_MS_MAX },
    )
    .then(
      () => (outcome = 'it started'),
      (error: unknown) => (outcome = String(error)),
    );
  return {
    mustBePending: () => {
      if (outcome !== null) throw new Error(`the launch did not wait for the stopped keeper: ${outcome}`);
    },
  };
}

async function interrupt(
  { scale, progress }: Context,
  samples: Samples,
  connection: NodeConnection,
  target: Session,
  when: string,
): Promise<void> {
  const latencies: number[] = [];
  for (let index = -WARM_UP; index < scale.interrupts; index += 1) {
    const start = performance.now();
    await connection.request('session.interrupt', addressOf(target));
    if (index >= 0) latencies.push(performance.now() - start);
    await sleep(PAUSE_MS);
  }
  samples.add(`${when}, p50`, 'ms', 'roost', percentile(latencies, 0.5));
  samples.add(`${when}, p99`, 'ms', 'roost', percentile(latencies, 0.99));
  progress(`interrupt ${when}: p99 ${percentile(latencies, 0.99).toFixed(2)} ms`);
}

function judge(samples: Samples): Verdict[] {
  const values = samples.of(`${BUSY}, p99`, 'roost');
  if (values === undefined) return [];
  const worst = percentile(values, 1);
  return [
    {
      target: `${BUSY}, p99: at most ${MOST_MS} ms`,
      measured: `${worst.toFixed(2)} ms`,
      met: worst <= MOST_MS,
    },
  ];
}
