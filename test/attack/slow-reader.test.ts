import { addressOf } from '@roost/protocol';
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
 * The keeper holds two sessions, each with a ring of 512 KiB and a screen, and starts at 55 MiB; measured are 94 MiB at
 * most, and garbage may be collected late. A backlog for one reader would be as large as the flood.
 */
const KEEPER_PEAK_BYTES_MAX = 192 * MIB;
/** The node carries no terminal bytes: measured are 75 MiB, most of it the runtime. */
const NODE_PEAK_BYTES_MAX = 160 * MIB;
/** Generous: what is measured here is that somebody is served at all. */
const ECHO_MS_MAX = 2_000;

const flood = (bytes: number) => ['node', LAB_AGENT, '--flood', String(bytes), '--say', 'flood over'];

/** The neighbour answers, again and again, until it is over; how often. */
async function neighbourAnswers(viewer: LaneViewer, isOver: () => boolean): Promise<number> {
  let rounds = 0;
  for (; !isOver(); rounds += 1) {
    const word = `echo-${rounds}`;
    viewer.type(`${word}\r`);
    await waitFor(
      `the neighbour to echo ${word}`,
      async () => (await viewer.lines()).filter((line) => line === word).length >= 2,
      { timeoutMs: ECHO_MS_MAX, everyMs: 10, state: () => viewer.lines() },
    );
    await delay(100);
  }
  return rounds;
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
    await node.request('session.input', {
      ...addressOf(sessions.find((one) => one.name === 'flood')!),
      text: '',
      framing: 'raw',
      submit: true,
    });
    const floodEnds = roost.screenShows('flood', /flood over$/m, FLOOD_TIMEOUT_MS).then(() => (over = true));
    const [rounds] = await Promise.all([
      neighbourAnswers(neighbour, () => over && !stillStopped),
      floodEnds,
      wait,
    ]);

    expect(rounds).toBeGreaterThan(STOPPED_MS / ECHO_MS_MAX);
    const [keepers, nodePid] = [roost.keeperPids(), await roost.nodePid()];
    for (const pid of keepers) expect(peakResidentBytes(pid)).toBeLessThan(KEEPER_PEAK_BYTES_MAX);
    expect(peakResidentBytes(nodePid)).toBeLessThan(NODE_PEAK_BYTES_MAX);
    expect(crawling.closed).toBe(false);
    // It did read slowly: far less than was printed, and more than nothing.
    expect(crawling.bytesRead).toBeLessThan(FLOOD_BYTES / 10);
    expect(crawling.bytesRead).toBeGreaterThan(0);

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
