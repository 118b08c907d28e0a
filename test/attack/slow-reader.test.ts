import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { attackCount } from '../support/counts.ts';
import { LaneViewer } from '../support/lane-viewer.ts';
import { connectTo } from '../support/node-client.ts';
import { MIB, peakResidentBytes } from '../support/process-facts.ts';
import { LAB_AGENT, RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const FLOOD_BYTES = attackCount(500, 60) * 1_000_000;
const STOPPED_MS = attackCount(60_000, 8_000);
/** A screen is parsed at tens of megabytes a second; a busy machine gets ten times that. */
const FLOOD_TIMEOUT_MS = 60_000 + FLOOD_BYTES / 1_000;
/**
 * Two sessions, each with a ring of 512 KiB and a screen of 5,000 lines, in a process that starts at 60 MiB and that may
 * collect its garbage late: what was measured is about 130 MiB. A backlog for one reader would be the flood's size.
 */
const KEEPER_PEAK_BYTES_MAX = 256 * MIB;
/** The node carries no terminal bytes: measured are about 90 MiB, most of it the runtime. */
const NODE_PEAK_BYTES_MAX = 160 * MIB;
/** Generous: what is measured here is that somebody is served at all. */
const ECHO_MS_MAX = 2_000;

const flood = (bytes: number) => ['node', LAB_AGENT, '--flood', String(bytes), '--say', 'flood over'];

/** The neighbour answers, again and again, while the flood goes on. */
async function neighbourAnswers(viewer: LaneViewer, until: () => boolean): Promise<number> {
  let slowest = 0;
  for (let round = 0; !until(); round += 1) {
    const word = `echo-${round}`;
    const asked = performance.now();
    viewer.type(`${word}\r`);
    await waitFor(
      `the neighbour to echo ${word}`,
      async () => (await viewer.lines()).filter((line) => line === word).length >= 2,
      { timeoutMs: ECHO_MS_MAX, everyMs: 10, state: () => viewer.lines() },
    );
    slowest = Math.max(slowest, performance.now() - asked);
    await delay(100);
  }
  return slowest;
}

describe('a reader that stops reading during a flood', () => {
  it('pauses nobody, costs no memory, and has the right screen afterwards', async () => {
    await using roost = new RoostHome();
    await roost.run('neighbour', ['cat']);
    await roost.run('flood', ['sh', '-c', 'read go; exec "$@"', 'sh', ...flood(FLOOD_BYTES)]);
    const node = await connectTo(roost);
    const sessions = (await node.request('session.list', {})).sessions;
    const idOf = (name: string) => sessions.find((one) => one.name === name)?.id ?? '';
    const ticket = (name: string, mode: 'drive' | 'watch') =>
      node.request('session.attach', { sessionId: idOf(name), mode });

    const stopped = roost.terminal(['attach', 'flood']);
    await waitFor(
      'the terminal to be attached',
      async () => (await roost.session('flood')).attachedClients > 0,
    );
    using crawling = new LaneViewer(await ticket('flood', 'watch'), { bytesPerSecond: 10_000 });
    using neighbour = new LaneViewer(await ticket('neighbour', 'drive'));
    await Promise.all([crawling.attached(), neighbour.attached()]);

    let [over, stillStopped] = [false, true];
    process.kill(stopped.pid, 'SIGSTOP');
    const wait = delay(STOPPED_MS).then(() => (stillStopped = false));
    await node.request('session.input', { sessionId: idOf('flood'), text: '', framing: 'raw', submit: true });
    const floodEnds = roost.screenShows('flood', /flood over$/m, FLOOD_TIMEOUT_MS).then(() => (over = true));
    const [slowest] = await Promise.all([
      neighbourAnswers(neighbour, () => over && !stillStopped),
      floodEnds,
      wait,
    ]);
    console.log({ slowest, crawled: crawling.bytesRead, screens: crawling.screens });

    const [keepers, nodePid] = [roost.keeperPids(), await roost.nodePid()];
    console.log(
      keepers.map((pid) => peakResidentBytes(pid) / MIB),
      peakResidentBytes(nodePid) / MIB,
    );
    for (const pid of keepers) expect(peakResidentBytes(pid)).toBeLessThan(KEEPER_PEAK_BYTES_MAX);
    expect(peakResidentBytes(nodePid)).toBeLessThan(NODE_PEAK_BYTES_MAX);
    expect(crawling.closed).toBe(false);

    process.kill(stopped.pid, 'SIGCONT');
    crawling.hurry();
    const right = (await roost.screen('flood')).trimEnd();
    await stopped.shows(/flood over$/m);
    for (const [who, lines] of [
      ['stopped', () => stopped.lines()],
      ['crawling', () => crawling.lines()],
    ] as const)
      await waitFor(
        `the ${who} reader to have the right screen`,
        async () => (await lines()).join('\n').trimEnd() === right,
        { state: async () => ({ right: right.split('\n'), seen: await lines() }) },
      );
    expect(right).toMatch(/flood over$/m);
  });
});
