import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectThroughHub, hubRequest, type NodeConnection } from '@roost/client';
import { addressOf, NodeName, type Session } from '@roost/protocol';
import { collectGarbage } from '../collect-garbage.ts';
import { freshName, type Context } from '../context.ts';
import { EchoLane } from '../hub/echo-lane.ts';
import { HubProcess } from '../hub/hub-process.ts';
import { waitUntil } from '../processes.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { percentile } from '../statistics.ts';
import { RoostSubject } from '../subjects/roost.ts';
import { COLUMNS, ROWS } from '../terminal.ts';
import { READY } from '../viewed-session.ts';

const CLIENT = { name: 'roost-bench', version: '0' };
/** Raw mode: only `cat` echoes. */
const ECHO = ['/bin/sh', '-c', 'stty raw -echo; printf %s "$1"; exec cat', 'sh', READY];
/** Between an echo and the next key, as between a person's keys. */
const PAUSE_MS = 2;
/** Keys before those that count, as a part of them. */
const WARM_UP_SHARE = 0.1;
const MOST_MS = 3;
const DIRECT = 'at the keeper';
const CONNECTION = 'over the connection to the node';
const DIALLED = 'through a hub that dials';
const CALLED = 'through a hub that is called';
const SHARES = [
  ['p50', 0.5],
  ['p95', 0.95],
  ['p99', 0.99],
] as const;

export async function measureHubTerminal(context: Context): Promise<SectionResult> {
  const { scale, subjects, scratch } = context;
  const samples = new Samples();
  const roost = subjects.find((subject) => subject instanceof RoostSubject);
  if (roost !== undefined) {
    // A node belongs to a hub in one way: two hubs.
    const [dialling, called] = await Promise.all([
      HubProcess.start(join(scratch, 'dialling'), roost.target.socketPath),
      HubProcess.start(join(scratch, 'called'), null),
    ]);
    try {
      await measure(context, samples, { roost, dialling, called });
    } finally {
      await Promise.all([dialling.stop(), called.stop()]);
    }
  }
  return {
    id: 'o',
    title: 'Keystroke echo through a hub',
    method:
      `One key at a time to a raw-mode echo program and back, ${scale.hubKeystrokes} keys on each of four ways to the same node, each with a session ` +
      'of its own; the ways take turns at every key. The client is the library in the process of the bench, without a command and its ' +
      'terminal in between; the hub is reached over TCP with a token.',
    measurements: samples.measurements,
    verdicts: [judge(samples, DIALLED), judge(samples, CALLED)],
  };
}

async function measure(
  { scale, progress }: Context,
  samples: Samples,
  hubs: { readonly roost: RoostSubject; readonly dialling: HubProcess; readonly called: HubProcess },
): Promise<void> {
  const local = await hubs.roost.connection();
  const { code } = await hubRequest(hubs.called.owner, 'invites.create', {});
  const { hubId } = await local.request('hub.join', {
    url: hubs.called.url,
    code,
    nodeName: NodeName.parse('far'),
  });
  const lines = [
    await through(hubs.dialling, local.node.id),
    await through(hubs.called, local.node.id),
  ] as const;
  const ways = [
    { way: DIRECT, connection: local },
    { way: CONNECTION, connection: new FromElsewhere(local) },
    { way: DIALLED, connection: lines[0] },
    { way: CALLED, connection: lines[1] },
  ];
  const sessions: Session[] = [];
  const lanes: { way: string; lane: EchoLane; took: number[] }[] = [];
  try {
    for (const { way, connection } of ways) {
      const session = await local.request('session.spawn', {
        name: freshName(),
        directory: hubs.roost.target.directory,
        launch: { kind: 'command', command: ECHO },
        size: { columns: COLUMNS, rows: ROWS },
      });
      sessions.push(session);
      const view = { sessionId: session.id, mode: 'drive', columns: COLUMNS, rows: ROWS } as const;
      lanes.push({ way, lane: await EchoLane.open(connection, view), took: [] });
    }
    collectGarbage();
    for (let key = -Math.ceil(WARM_UP_SHARE * scale.hubKeystrokes); key < scale.hubKeystrokes; key += 1) {
      for (const { lane, took } of lanes) {
        const milliseconds = await lane.echo();
        if (key >= 0) took.push(milliseconds);
        await sleep(PAUSE_MS);
      }
    }
    for (const { way, took } of lanes) {
      for (const [name, share] of SHARES)
        samples.add(`${way}, ${name}`, 'ms', 'roost', percentile(took, share));
      progress(
        `echo ${way}: ${percentile(took, 0.5).toFixed(2)} ms, p95 ${percentile(took, 0.95).toFixed(2)} ms`,
      );
    }
  } finally {
    for (const { lane } of lanes) lane.close();
    for (const session of sessions)
      await local.request('session.stop', { ...addressOf(session), force: true });
    for (const line of lines) line.close();
    await local.request('hub.leave', { hubId });
  }
}

/** A line to the node through a hub, once that has one. */
async function through(hub: HubProcess, node: string): Promise<NodeConnection> {
  const isOnline = async () => {
    const { nodes } = await hubRequest(hub.owner, 'nodes.list', {});
    return nodes.some(({ id, link }) => id === node && link.state === 'online');
  };
  await waitUntil('the node is online', isOnline);
  return connectThroughHub(await hub.user('operator'), { node, client: CLIENT });
}

/** A connection to the node of this machine that does not know that it is. */
class FromElsewhere implements Pick<NodeConnection, 'isLocal' | 'request' | 'openTerminal'> {
  readonly isLocal = false;
  readonly request: NodeConnection['request'];
  readonly openTerminal: NodeConnection['openTerminal'];

  constructor(connection: NodeConnection) {
    this.request = connection.request.bind(connection);
    this.openTerminal = connection.openTerminal.bind(connection);
  }
}

function judge(samples: Samples, way: string): Verdict {
  const target = `${way}, p95: at most ${MOST_MS} ms over ${DIRECT}`;
  const [value] = samples.of(`${way}, p95`, 'roost') ?? [];
  const [direct] = samples.of(`${DIRECT}, p95`, 'roost') ?? [];
  if (value === undefined || direct === undefined) return { target, measured: 'not measured', met: null };
  return { target, measured: `${(value - direct).toFixed(2)} ms over`, met: value - direct <= MOST_MS };
}
