import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hubRequest, type HubTarget } from '@roost/client';
import { collectGarbage } from '../collect-garbage.ts';
import type { Context } from '../context.ts';
import { judgeBoard, measureBoard } from '../hub/board-viewer.ts';
import { EventListener } from '../hub/event-listener.ts';
import { HubProcess } from '../hub/hub-process.ts';
import { startStubFleet, type StubFleet } from '../hub/stub-fleet.ts';
import { processorMs, waitUntil, weigh } from '../processes.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { percentile } from '../statistics.ts';

const FLEETS = 2;
const SESSIONS_OF_NODE = 10;
const EVENTS_PER_SECOND = 200;
const PATIENCE_MS = 120_000;
const MOST_MS = 50;
const ONLINE = 'every node online, from the first call';
const KNOWN = 'every session read';
const LISTS = [
  ['first 100 sessions', '/api/v1/sessions?limit=100'],
  ['first page of sessions', '/api/v1/sessions'],
] as const;
const LOST = 'events lost, or out of order';
/** With all that there is. */
const BOARD = 'first card on the board';
const SLOWEST = 'from a node to the last client';

export async function measureHubNodes(context: Context): Promise<SectionResult> {
  const { scale, scratch, program } = context;
  const samples = new Samples();
  const hub = await HubProcess.start(join(scratch, 'hub'), null);
  const fleets = Array.from({ length: FLEETS }, () => startStubFleet(program));
  try {
    await fill(context, samples, hub, fleets);
    const observer = await hub.user('observer');
    for (const [what, path] of LISTS) await list(context, samples, observer, { what, path });
    await rest(context, samples, hub);
    await fanOut(context, samples, { hub, fleets, observer });
    await measureBoard(hub, { views: scale.boardViews, name: BOARD, home: scratch }, samples);
  } finally {
    await Promise.all(fleets.map((fleet) => fleet.close()));
    await hub.stop();
  }
  return {
    id: 'n',
    title: `A hub with ${scale.hubNodes} nodes and ${scale.hubNodes * SESSIONS_OF_NODE} sessions`,
    method:
      `Nodes without anything behind them, in ${FLEETS} processes, enrol, call the hub all at once and tell it of ${SESSIONS_OF_NODE} sessions each. ` +
      `Memory: proportional set size of the hub after a quiet while, beyond that of the hub without nodes. Lists: ${scale.hubLists} times one after the ` +
      `other over one HTTP connection. Events: ${scale.hubClients} clients over WebSockets in one process; ${scale.hubEvents} events of sessions, ` +
      `${EVENTS_PER_SECOND} a second, from one node after the other, then as many at once; the delay is that to the client that has it last. The board is seen as in section p.`,
    measurements: samples.measurements,
    verdicts: judge(samples),
  };
}

async function fill(
  { scale, progress }: Context,
  samples: Samples,
  hub: HubProcess,
  fleets: readonly StubFleet[],
): Promise<void> {
  const weight = async () => {
    await sleep(scale.settleMs);
    return weigh([hub.pid]).pss;
  };
  const { hubNodes: nodes } = scale;
  const sessions = nodes * SESSIONS_OF_NODE;
  const empty = await weight();
  const enrolled = performance.now();
  await Promise.all(
    fleets.map((fleet, index) =>
      fleet.do({
        kind: 'enrol',
        url: hub.url,
        socketPath: hub.socketPath,
        first: index * Math.ceil(nodes / FLEETS),
        nodes: index === 0 ? Math.ceil(nodes / FLEETS) : Math.floor(nodes / FLEETS),
      }),
    ),
  );
  samples.add('every node enrolled', 'ms', 'roost', performance.now() - enrolled);

  const online = await timeOf(fleets, (fleet) => fleet.do({ kind: 'call' }));
  await waitUntil('every node is online', () => allOnline(hub.owner, nodes), PATIENCE_MS);
  samples.add(ONLINE, 'ms', 'roost', online);
  const withNodes = await weight();

  samples.add(
    KNOWN,
    'ms',
    'roost',
    await timeOf(fleets, (fleet) => fleet.do({ kind: 'fill', sessions: SESSIONS_OF_NODE })),
  );
  const isKnown = async () => (await hubRequest(hub.owner, 'sessions.list', { limit: 1 })).total === sessions;
  await waitUntil('every session is known', isKnown, PATIENCE_MS);
  const withSessions = await weight();

  samples.add('hub without nodes', 'MiB', 'roost', empty);
  samples.add('hub with nodes', 'MiB', 'roost', withNodes);
  samples.add('hub with nodes and sessions', 'MiB', 'roost', withSessions);
  samples.add('a node', 'KiB', 'roost', ((withNodes - empty) * 1024) / nodes);
  samples.add('a session', 'KiB', 'roost', ((withSessions - withNodes) * 1024) / sessions);
  progress(
    `hub: ${nodes} nodes online in ${online.toFixed(0)} ms; ${empty.toFixed(0)} MiB empty, ${withNodes.toFixed(0)} with nodes, ` +
      `${withSessions.toFixed(0)} with sessions`,
  );
}

/** Milliseconds until the last of them is done. */
async function timeOf(
  fleets: readonly StubFleet[],
  work: (fleet: StubFleet) => Promise<{ readonly at: number }>,
): Promise<number> {
  const startedAt = performance.timeOrigin + performance.now();
  const ends = await Promise.all(fleets.map(work));
  return Math.max(...ends.map(({ at }) => at)) - startedAt;
}

async function allOnline(target: HubTarget, count: number): Promise<boolean> {
  const { nodes } = await hubRequest(target, 'nodes.list', {});
  return nodes.length === count && nodes.every(({ link }) => link.state === 'online');
}

async function list(
  { scale, progress }: Context,
  samples: Samples,
  { url, token }: Extract<HubTarget, { token: string }>,
  { what, path }: { readonly what: string; readonly path: string },
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const took: number[] = [];
  collectGarbage();
  for (let index = 0; index < scale.hubLists; index += 1) {
    const startedAt = performance.now();
    await get(new URL(path, url), token, agent);
    took.push(performance.now() - startedAt);
  }
  agent.destroy();
  samples.add(`${what}, p50`, 'ms', 'roost', percentile(took, 0.5));
  samples.add(`${what}, p99`, 'ms', 'roost', percentile(took, 0.99));
  progress(`hub: ${what} in ${percentile(took, 0.99).toFixed(1)} ms (p99)`);
}

/** Until the last byte is there. */
function get(url: URL, token: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    request(url, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`the hub answers ${response.statusCode ?? '?'}`));
      response.resume().once('end', resolve).once('error', reject);
    })
      .once('error', reject)
      .end();
  });
}

async function rest({ scale, progress }: Context, samples: Samples, { pid }: HubProcess): Promise<void> {
  await sleep(scale.settleMs);
  const [startedAt, before] = [performance.now(), processorMs(pid)];
  await sleep(scale.hubRestSeconds * 1_000);
  const share = (100 * (processorMs(pid) - before)) / (performance.now() - startedAt);
  samples.add('processor time at rest, of one core', '%', 'roost', share);
  progress(`hub: at rest ${share.toFixed(1)} % of a core`);
}

async function fanOut(
  { scale, progress }: Context,
  samples: Samples,
  {
    hub,
    fleets,
    observer,
  }: {
    readonly hub: HubProcess;
    readonly fleets: readonly StubFleet[];
    readonly observer: Extract<HubTarget, { token: string }>;
  },
): Promise<void> {
  const events = scale.hubEvents;
  const each = events / FLEETS;
  const delays = { slowest: new Float64Array(2 * events) };
  const clients = await Promise.all(
    Array.from({ length: scale.hubClients }, () => EventListener.open(observer, delays)),
  );
  try {
    collectGarbage();
    const tell = (first: number, perSecond: number | null) =>
      timeOf(fleets, (fleet) => {
        const eventsPerSecond = perSecond === null ? null : perSecond / FLEETS;
        return fleet.do({
          kind: 'tell',
          first: first + fleets.indexOf(fleet) * each,
          events: each,
          eventsPerSecond,
        });
      });
    const cpuBefore = processorMs(hub.pid);
    const paced = await tell(0, EVENTS_PER_SECOND);
    await Promise.all(clients.map((client) => client.until(events)));
    const cpu = (processorMs(hub.pid) - cpuBefore) / (paced / 1_000);
    const startedAt = performance.now();
    await tell(events, null);
    await Promise.all(clients.map((client) => client.until(2 * events)));
    const rate = events / ((performance.now() - startedAt) / 1_000);

    const steady = [...delays.slowest.subarray(0, events)];
    const lost = clients.reduce(
      (sum, { inOrder, received }) => sum + (inOrder ? 2 * events - received : 2 * events),
      0,
    );
    samples.add(LOST, 'events', 'roost', lost);
    for (const [name, share] of [
      ['p50', 0.5],
      ['p95', 0.95],
      ['worst', 1],
    ] as const) {
      samples.add(`${SLOWEST}, ${name}`, 'ms', 'roost', percentile(steady, share));
    }
    samples.add('processor time, for one second of events', 'ms', 'roost', cpu);
    samples.add('events at once, until every client has all', 'events/s', 'roost', rate);
    progress(
      `hub: ${lost} events lost, p95 ${percentile(steady, 0.95).toFixed(1)} ms to the last of ${scale.hubClients}, at once ${rate.toFixed(0)}/s`,
    );
  } finally {
    for (const client of clients) client.close();
  }
}

function judge(samples: Samples): Verdict[] {
  const lists = LISTS.map(([what]): Verdict => {
    const [slowest = Infinity] = samples.of(`${what}, p99`, 'roost') ?? [];
    return {
      target: `${what}, p99: less than ${MOST_MS} ms`,
      measured: `${slowest.toFixed(1)} ms`,
      met: slowest < MOST_MS,
    };
  });
  const [lost = Infinity] = samples.of(LOST, 'roost') ?? [];
  return [
    ...lists,
    judgeBoard(samples, BOARD),
    { target: 'events of a hub lost: 0', measured: String(lost), met: lost === 0 },
  ];
}
